"""astronomer-cosmos on Airflow: a DAG from the manifest and by `ls`, and what WATCHER mode reads of a build's lines."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

pytestmark = pytest.mark.nightly
PACKAGES = ("astronomer-cosmos==1.15.1", "apache-airflow==3.3.2")
VARIABLES = {"AIRFLOW__CORE__LOAD_EXAMPLES": "False", "AIRFLOW__COSMOS__ENABLE_CACHE": "False"}
"""Its cache needs Airflow's database."""
MODELS = {
    "a": {"tests": ["unique"]},
    "b": {"parents": ["a"]},
    "bad": {},
    "below": {"parents": ["bad"]},
    "again": {},
}


def test_cosmos_renders_the_project_and_reads_its_lines(
    client, run_client, shop, merge_runner, make_project, capfd, tmp_path
):
    Project.load(shop).write_manifest()
    root, lake, lines = make_project(model_files(MODELS)), Lake(), tmp_path / "lines.txt"
    written = ""
    for arguments, faults in ((["run", "-s", "again"], {}), (["build", "--no-lint"], {"bad": ["fails"]})):
        with pytest.raises(SystemExit):
            options = ("--batch-id", "1", "--log-format", "dbt-json", "--project-dir", str(root))
            main([*arguments, *options], Host(start=Starts(FakeDriver(lake, faults))))
        written = capfd.readouterr().out
    lines.write_text(written)
    home = {"AIRFLOW_HOME": str(tmp_path / "airflow"), **VARIABLES}
    out = run_client(client(*PACKAGES), "with_cosmos.py", shop, merge_runner, lines, **home)
    report = json.loads(next(line for line in out.splitlines() if line.startswith("REPORT "))[len("REPORT ") :])
    below = {
        "shop.orders.test": ["shop.orders.run"],
        "shop.customers.run": ["shop.orders.test"],
        "shop.customers.test": ["shop.customers.run"],
    }
    tasks = {
        "shop.raw_orders_seed": [],
        "shop.stg_orders_run": ["shop.raw_orders_seed"],
        "shop.orders.run": ["shop.stg_orders_run"],
        **below,
    }
    assert (report["manifest"], report["ls"]) == (tasks, tasks)
    assert report["selected"] == {"shop.orders.run": [], **below}
    pushed = report["pushed"]
    statuses = {
        name: pushed[key]["status"] for name in MODELS for key in pushed if key.endswith(f"shop__{name}_status")
    }
    # What had nothing to do is a success, and what was skipped below a failure has failed.
    assert statuses == {"a": "success", "b": "success", "bad": "error", "below": "failed", "again": "success"}
    (event,) = [value for key, value in pushed.items() if key.endswith("shop__bad_dbt_event")]
    assert "Division by zero" in event["msg"]
    assert [each["name"] for each in pushed["dbt_startup_events"]] == ["MainReportVersion"]
