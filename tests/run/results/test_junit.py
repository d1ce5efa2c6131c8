"""Builds on the fake engine as CI servers read them."""

from xml.etree import ElementTree as ET

from merge_runner import Project
from merge_runner.run.results.junit import junit
from tests.fake_engine import FakeDriver
from tests.fake_engine.projects import model_files

MODELS = {
    "bad": {},
    "below": {"parents": ["bad"]},
    "days": {"config": "event_time='times', batch_size='day', begin='2026-01-01'"},
}


def test_a_model_of_which_a_batch_failed_is_an_error(make_project):
    project = Project.load(make_project(model_files(MODELS)))
    driver = FakeDriver(faults={"bad": ["fails"], "days": [None, "fails"]})
    run = project.build(driver=driver, lint=False, event_time_start="2026-01-01", event_time_end="2026-01-04")
    root = ET.fromstring(junit(run, project.prepared.graph.nodes))
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "0",
        "errors": "2",
        "skipped": "1",
    }
    (error,) = root.findall(".//testcase[@name='days']/error")
    assert error.get("type") == "partial success"
    assert error.get("message").startswith("1 of 3 batches, ")
