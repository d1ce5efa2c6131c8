"""astronomer-cosmos in its WATCHER mode, in Airflow on sqlite: one build on the fake engine, and tasks that follow it."""

import json
import shutil
from pathlib import Path

import pytest

from merge_runner import Project
from tests.clients.test_cosmos import PACKAGES, VARIABLES

pytestmark = pytest.mark.nightly
HERE = Path(__file__).parent
MODELS = {
    "a": {"tests": ["unique"]},
    "b": {"parents": ["a"]},
    "bad": {},
    "below": {"parents": ["bad"]},
    "v": {"parents": ["b"], "materialized": "view"},
}
PRODUCER = {"shop.dbt_producer_watcher", "shop.dbt_producer_watcher_done"}


@pytest.mark.parametrize(
    ("turn", "failed"),
    [({}, set()), ({"faults": {"bad": ["fails"]}}, {*PRODUCER, "shop.bad_run", "shop.below_run"})],
    ids=["all is built", "a model fails"],
)
def test_tasks_end_as_their_models_do(client, run_client, make_shop, tmp_path, turn, failed):
    settings = '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.lint]\nignore = ["P"]\n'
    shop = make_shop(MODELS, {"pyproject.toml": settings, "dbt_project.yml": "name: shop\nprofile: shop\n"})
    Project.load(shop.root).write_manifest()
    shop.turns.write_text(json.dumps([turn]))
    (tmp_path / "dags").mkdir()
    shutil.copy(HERE / "cosmos_dag.py", tmp_path / "dags")
    variables = {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags"),
        "SHOP": str(shop.root),
        "EXECUTABLE": str(shop.executable),
        **VARIABLES,
        **shop.env,
    }
    out = run_client(client(*PACKAGES), HERE / "scripts/with_watcher.py", **variables)
    report = json.loads(next(line for line in out.splitlines() if line.startswith("REPORT "))[len("REPORT ") :])
    commands = [json.loads(each.read_text())[0] for each in shop.turns.parent.glob("turns.[0-9]*")]
    assert commands == ["build"]
    ended = {task for task, state in report["states"].items() if state != "success"}
    assert (ended, report["state"]) == (failed, "failed" if failed else "success"), report
