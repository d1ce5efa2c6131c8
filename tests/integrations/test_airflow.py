"""Airflow in process, on sqlite: a DAG whose tables are built by one task, on the fake engine."""

import json
import shutil
from pathlib import Path

import pytest
import tomli

from merge_runner import Project

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[2]
PACKAGES = ("apache-airflow==3.3.2", *tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
"""`merge-runner[airflow]` without Spark."""
MODELS = {
    "a": {"tests": ["unique"]},
    "b": {"parents": ["a"], "tests": [{"accepted_values": {"values": [777], "quote": False}}]},
    "bad": {},
    "below": {"parents": ["bad"]},
    "v": {"parents": ["b"], "materialized": "view"},
}


@pytest.fixture(scope="module")
def report(client, run_client, make_shop, tmp_path_factory):
    """What Airflow reports of two runs of a DAG, from one process."""
    shop = make_shop(
        MODELS, {"pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.lint]\nignore = ["P"]\n'}
    )
    Project.load(shop.root).write_manifest()
    home = tmp_path_factory.mktemp("airflow")
    (home / "dags").mkdir()
    shutil.copy(Path(__file__).parent / "shop_dag.py", home / "dags")
    project = {"project_dir": str(shop.root), "executable": str(shop.executable), "env": shop.env}
    (home / "shop.json").write_text(json.dumps({"project": project, "retries": 1}))
    script = Path(__file__).parent / "scripts/with_airflow.py"
    variables = {
        "PYTHONPATH": str(ROOT),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "SHOP_DAG": str(home / "shop.json"),
        **shop.env,
    }
    out = run_client(client(*PACKAGES), script, **variables)
    return json.loads(next(line for line in out.splitlines() if line.startswith("REPORT "))[7:])


def test_the_tasks_are_those_of_the_manifest(report):
    upstream = {task.removeprefix("tables."): above for task, above in report["upstream"].items()}
    assert upstream == {
        "lint": [],
        "build": ["lint"],
        "a": ["lint"],
        "bad": ["lint"],
        "b": ["tables.a"],
        "below": ["tables.bad"],
        "v": ["tables.b"],
    }
    outlets = {task.removeprefix("tables."): names for task, names in report["outlets"].items()}
    assert outlets == {"lint": [], "build": [], **{name: [f"shop.{name}"] for name in MODELS}}


def test_a_deferred_task_goes_on_once_its_table_is_done(report):
    outcome = {"status": "success", "message": "", "figures": {"rows": 1}, "final": True, "generation": 0}
    assert report["fired"] == [{"next": "done", "outcome": outcome}]


def test_a_second_try_of_the_build_retries_and_all_tables_are_done(report):
    found = report["mended"]
    assert found["state"] == "success", found
    assert set(found["states"].values()) == {"success"}
    assert [command[0] for command in found["commands"]] == ["build", "retry"]
    assert '{"day": "2026-01-02"}' in found["commands"][0]
    assert (found["tries"]["tables.build"], found["tries"]["tables.bad"]) == (2, 1)
    figures = found["figures"]["tables.a"]
    expected = {"status": "success", "rows_inserted": 5, "verdict": "none", "tests": 1, "tests_passed": 1}
    assert expected.items() <= figures.items()
    assert set(found["assets"]) == {f"merge-runner://shop/shop.{name}" for name in MODELS}
    assert found["assets"]["merge-runner://shop/shop.a"]["rows_inserted"] == 5
    assert found["returned"]["lint"]["merges"] == 4
    assert found["returned"]["tables.build"] == {"success": 5, "pass": 2}


def test_what_fails_fails_its_task_and_what_reads_it_does_not_run(report):
    found = report["failed"]
    states = {task.removeprefix("tables."): state for task, state in found["states"].items()}
    assert states == {
        "lint": "success",
        "build": "failed",
        "a": "success",
        "b": "failed",
        "v": "upstream_failed",
        "bad": "failed",
        "below": "upstream_failed",
    }
    assert found["state"] == "failed"
    assert [command[0] for command in found["commands"]] == ["build", "retry"]
    assert set(found["assets"]) == {"merge-runner://shop/shop.a"}


def test_a_data_interval_is_a_window_of_batches(report):
    found = report["days"]
    assert found["state"] == "success", found
    (command,) = found["commands"]
    start = command.index("--event-time-start")
    assert command[start : start + 4] == ["--event-time-start", "2026-01-03", "--event-time-end", "2026-01-04"]
    assert command[start + 4 :] == ["--select", "a"]


def test_a_run_without_a_data_interval_fails_before_anything_runs(report):
    found = report["no interval"]
    assert (found["state"], found["commands"]) == ("failed", [])
