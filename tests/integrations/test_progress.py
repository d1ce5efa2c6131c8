"""Which tables of a build are done, and what their tasks do then: real builds on the fake engine."""

from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.integrations.manifest import ProjectTables
from merge_runner.integrations.progress import Outcome, Progress, what_next
from merge_runner.integrations.run_log import failures
from tests.fake_engine import FakeDriver, Lake
from tests.fake_engine.projects import model_files
from tests.written_project import write_project
from tests.yaml_data import read_yaml

NEXT = read_yaml(Path(__file__).parent / "next.yml")
MODELS = {
    "a": {"tests": ["unique", "not_null"]},
    "b": {"parents": ["a"], "tests": [{"accepted_values": {"values": [888], "quote": False, "severity": "warn"}}]},
    "bad": {},
    "below": {"parents": ["bad"], "tests": ["unique"]},
    "c": {"tests": [{"accepted_values": {"values": [777], "quote": False}}]},
    "between": {"parents": ["c"], "materialized": "ephemeral"},
    "d": {"parents": ["between"], "materialized": "view"},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build with faults and failing tests; return the tables, their outcomes by name, and the project."""
    project = Project.load(write_project(tmp_path_factory.mktemp("progress"), "shop", model_files(MODELS)))
    tables = ProjectTables.read(project.write_manifest())
    progress, done = Progress(tables, final=False, generation=2), []

    def listen(event):
        if event.event == "node_finished":
            done.extend((node.split(".")[-1], outcome) for node, outcome in progress.add(event.result))

    driver = FakeDriver(Lake(), {"bad": ["fails"]}, failures={"888": 2, "777": 1})
    project.build(driver=driver, lint=False, on_event=listen)
    assert list(progress.end()) == []
    return tables, dict(done), project


def test_a_table_is_done_with_its_tests(built):
    tables, done, _ = built
    assert {name: outcome.status for name, outcome in done.items()} == {
        "a": "success",
        "b": "warn",
        "bad": "error",
        "below": "skipped",
        "c": "fail",
        "d": "skipped",
    }
    assert {name: outcome.ended_well for name, outcome in done.items() if outcome.ended_well} == {"a": True, "b": True}
    assert [done["a"].figures[key] for key in ("tests", "tests_passed")] == [2, 2]
    assert [done["c"].figures[key] for key in ("tests", "tests_passed")] == [1, 0]
    assert done["a"].message == "1 inserted, 0 updated, 0 deleted"
    assert done["c"].message.startswith("test.shop.accepted_values_c_id__")
    assert " fail: models/c.yml:1:87: 1 failure of accepted_values on c.id" in done["c"].message
    assert "Division by zero" in done["bad"].message
    assert all((outcome.final, outcome.generation) == (False, 2) for outcome in done.values())
    assert all(Outcome(**outcome.as_json()) == outcome for outcome in done.values())
    assert set(done) == {table.name for table in tables.tables.values()}


def test_tables_read_each_other_through_ephemeral_models(built):
    tables, _, _ = built
    parents = {table.name: [each.split(".")[-1] for each in table.parents] for table in tables.tables.values()}
    assert parents == {"a": [], "b": ["a"], "bad": [], "below": ["bad"], "c": [], "d": ["c"]}
    checks = {table.name: [(check.kind, check.severity) for check in table.checks] for table in tables.tables.values()}
    assert checks["a"] == [("data test", "error")] * 2
    assert checks["b"] == [("data test", "warn")]


def test_what_selects_a_table_or_a_check_selects_nothing_else(built):
    tables, _, project = built
    for table in tables.tables.values():
        assert project.select(table.selector, indirect="empty").ids == (table.unique_id,)
        for check in table.checks:
            assert project.select(check.selector, indirect="empty").ids == (check.unique_id,)


def test_the_tests_that_did_not_run_are_not_waited_for(built):
    tables, _, _ = built
    progress = Progress(tables, final=True, generation=0)
    assert list(progress.add({"unique_id": "model.shop.a", "status": "success", "execution_time": 1})) == []
    ((node, outcome),) = progress.end()
    assert (node, outcome.status, outcome.figures) == ("model.shop.a", "success", {"status": "success", "seconds": 1.0})


def test_a_table_of_which_a_batch_failed_has_failed(built):
    tables, _, _ = built
    result = {
        "unique_id": "model.shop.a",
        "status": "partial success",
        "execution_time": 1,
        "message": "2 of 3 batches",
    }
    ((_, outcome),) = Progress(tables, final=True, generation=0).add(result)
    assert (outcome.status, outcome.message, outcome.ended_well) == ("partial success", "2 of 3 batches", False)
    assert failures([result]) == ["model.shop.a: 2 of 3 batches"]


@pytest.mark.parametrize("case", NEXT, ids=str)
def test_what_a_task_does(case):
    given = case["outcome"]
    outcome = None if given is None else Outcome(given[0], final=given[1], generation=given[2])
    assert what_next(outcome, case["state"], 1) == case["next"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no "),
        ("{", "is no manifest that can be read: JSONDecodeError"),
        ("[]", "is no manifest that can be read: TypeError"),
        ('{"nodes": {}}', "is no manifest that can be read: KeyError: 'sources'"),
    ],
)
def test_a_manifest_that_is_none_is_a_problem(tmp_path, text, message):
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ProblemsError) as raised:
        ProjectTables.read(tmp_path / "manifest.json")
    (problem,) = raised.value.problems
    assert message in problem.message
    assert "merge-runner parse" in problem.hint
