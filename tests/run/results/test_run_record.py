"""The record that a run on the fake engine leaves for its page."""

from merge_runner import Project
from merge_runner.pages.runs.history import kept_runs
from tests.fake_engine import FakeDriver
from tests.fake_engine.projects import model_files

MODELS = {"a": {}, "days": {"config": "event_time='times', batch_size='day', begin='2026-01-01'"}}


def test_a_model_has_its_batches(make_project):
    project = Project.load(make_project(model_files(MODELS)))
    driver = FakeDriver(faults={"days": [None, "fails"]}, counts={"days": {"inserted": 3}})
    project.build(driver=driver, lint=False, event_time_start="2026-01-01", event_time_end="2026-01-04")
    (run,) = kept_runs(project.prepared.target_path)
    nodes = {node["name"]: node for node in run.record["nodes"]}
    assert not nodes["a"].keys() & {"batches", "batch_size"}
    assert (nodes["days"]["status"], nodes["days"]["batch_size"]) == ("partial success", "day")
    batches = nodes["days"]["batches"]
    assert [(batch["start"], batch["end"], batch["reason"], batch["status"], batch["rows"]) for batch in batches] == [
        ("2026-01-01", "2026-01-02", "asked", "success", 3),
        ("2026-01-02", "2026-01-03", "asked", "error", None),
        ("2026-01-03", "2026-01-04", "asked", "skipped", None),
    ]
    assert "Division by zero" in batches[1]["message"]
    assert run.record["ok"] is False
