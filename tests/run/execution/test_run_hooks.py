"""Hooks of a run on the fake engine: when they run, what they are given, and what a failure of one means."""

import json
from pathlib import Path

import pytest
import yaml

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.config import as_list
from tests.dbt_schemas import schema_errors
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

CASES = yaml.safe_load((Path(__file__).parent / "run_hooks.yml").read_text(encoding="utf-8"))
ANSWERS = {"select": [{"n": 7}], "insert": [], "create table a": []}
OWN = ("select", "insert", "create table a", "drop table a")


def settings(**hooks):
    lines = [f"on-run-{moment} = {json.dumps(as_list(texts))}" for moment, texts in hooks.items() if texts]
    return "\n".join(["[tool.merge-runner]", 'name = "shop"', *lines, ""])


def own_statements(driver):
    """Return what hooks have sent, in one line each, and the MERGE of the model by this word alone."""
    texts = [" ".join(text.split()) for text in driver.statements]
    return ["MERGE" if "merge into" in text else text for text in texts if text.startswith(OWN) or "merge into" in text]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_hooks(make_project, case):
    hooks = settings(start=case.get("start"), end=case.get("end"))
    macros = {"macros/m.sql": case["macros"]} if "macros" in case else {}
    root = make_project({**model_files({"m": None}), "pyproject.toml": hooks, **macros})
    lake = Lake()
    assert Project.load(make_project(model_files({"m": None}))).build(lint=False, driver=FakeDriver(lake)).ok
    driver = FakeDriver(lake, case.get("faults"), answers=ANSWERS)
    project = Project.load(root)
    schema = project.graph.nodes["model.shop.m"].relation.schema
    run = getattr(project, case.get("command", "build"))(driver=driver)
    assert own_statements(driver) == [text.replace("SCHEMA", schema) for text in case["sent"]]
    assert {result.unique_id: result.status for result in run.hooks} == {
        f"operation.shop.shop-{name}": status for name, status in case["hooks"].items()
    }
    assert {result.unique_id.rpartition(".")[2]: result.status for result in run.results} == case["nodes"]
    assert run.ok is ("error" not in (*case["hooks"].values(), *case["nodes"].values()))
    if "says" in case:
        assert next(hook.message for hook in run.hooks if hook.status == "error").startswith(case["says"])
    document = json.loads((root / "target" / "run_results.json").read_text())
    assert schema_errors(document) == []
    written = document["results"]
    assert [entry["unique_id"] for entry in written[len(run.results) :]] == [hook.unique_id for hook in run.hooks]


@pytest.mark.parametrize(
    ("moment", "text", "problem"),
    [
        ("end", "select * from {{ ref('n') }}", 'pyproject.toml:3:15: there is no model or seed "n"'),
        ("start", "{{ grant_all() }}", 'pyproject.toml:3:17: "grant_all" is not defined'),
        ("start", "{% if %}", "pyproject.toml:3:17: Expected an expression"),
        ("end", "{{ results | first_of }}", "pyproject.toml:3:15: there is no filter"),
    ],
)
def test_a_hook_that_cannot_be_rendered_is_refused_before_anything_runs(make_project, moment, text, problem):
    root = make_project({**model_files({"m": None}), "pyproject.toml": settings(**{moment: text})})
    driver, project = FakeDriver(), Project.load(root)
    for run in (lambda: project.build(driver=driver), project.parse):
        with pytest.raises(ProblemsError) as refused:
            run()
        assert str(refused.value.problems[0]).startswith(problem)
    assert driver.statements == []


def test_where_nothing_has_to_run_no_hook_runs(make_project):
    root = make_project({**model_files({"m": None}), "pyproject.toml": settings(start="select 1")})
    driver = FakeDriver(answers={"select": []})
    assert Project.load(root).build("tag:none", driver=driver).ok
    assert driver.statements == []


def test_a_start_that_failed_leaves_all_to_retry(make_project):
    root = make_project({**model_files({"m": None}), "pyproject.toml": settings(start="select 1", end="select 2")})
    lake = Lake()
    assert not Project.load(root).build(driver=FakeDriver(lake, {"select 1": ["fails"]}, answers={"select": []})).ok
    again = Project.load(root).retry(driver=FakeDriver(lake, answers={"select": []}))
    assert [(result.unique_id, result.status) for result in (*again.hooks, *again.results)] == [
        ("operation.shop.shop-on-run-start-0", "success"),
        ("operation.shop.shop-on-run-end-0", "success"),
        ("model.shop.m", "success"),
    ]


def test_secrets_are_hidden(make_project, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "s3cr3t-of-hooks")
    text = "select '{{ env_var('API_TOKEN') }}'"
    root = make_project({**model_files({"m": None}), "pyproject.toml": settings(start=text)})
    driver = FakeDriver(answers={"select": []})
    events = []
    assert Project.load(root).build(driver=driver, on_event=events.append).ok
    assert "select 's3cr3t-of-hooks'" in driver.statements
    kept = [path.read_text() for path in (root / "target").rglob("*") if path.is_file() and path.suffix != ".gz"]
    assert not any("s3cr3t-of-hooks" in text for text in (*kept, *map(str, events)))


def test_the_command_shows_which_hook_failed(make_project, capfd):
    from merge_runner.cli.host import Host
    from merge_runner.cli.main import main

    root = make_project({**model_files({"m": None}), "pyproject.toml": settings(start="select 1", end="select 2")})
    driver = FakeDriver(None, {"select 2": ["fails"]}, answers={"select": []})
    with pytest.raises(SystemExit) as end:
        main(["build", "--project-dir", str(root)], Host(start=Starts(driver)))
    shown = capfd.readouterr().err
    assert end.value.code == 1
    assert "on-run-start 1: OK in 0.0 s" in shown
    assert "error: on-run-end 1: pyproject.toml:4:15: Division by zero [DIVIDE_BY_ZERO]" in shown


def test_a_var_that_a_hook_alone_reads_is_read(make_project):
    hooks = settings(start="select {{ var('days', 1) }}")
    project = Project.load(make_project({"pyproject.toml": hooks}), vars={"days": 3, "dayz": 3})
    assert ['"dayz"' in problem.message for problem in project.prepared.unread_vars] == [True]


def test_on_another_driver_what_has_begun_goes_on(make_project):
    hooks = settings(start="select 1", end="select 2")
    root = make_project({**model_files({"m": None, "n": {"parents": ["m"]}}), "pyproject.toml": hooks})
    first, second = FakeDriver(faults={"session 3": ["lost"]}, answers=ANSWERS), FakeDriver(answers=ANSWERS)
    run = Project.load(root, start=Starts(first, second)).build(lint=False)
    assert [own_statements(driver) for driver in (first, second)] == [["select 1", "MERGE"], ["MERGE", "select 2"]]
    assert [hook.status for hook in run.hooks] == ["success", "success"]


@pytest.mark.parametrize(
    ("fault", "sent", "statuses"),
    [("select 1", ["select 1"], ["skipped"]), ("m", ["select 1", "MERGE"], ["error"])],
)
def test_a_run_that_is_stopped_runs_no_more_hooks(make_project, fault, sent, statuses):
    root = make_project({**model_files({"m": None}), "pyproject.toml": settings(start="select 1", end="select 2")})
    driver = FakeDriver(faults={fault: ["interrupts"]}, answers=ANSWERS)
    with pytest.raises(KeyboardInterrupt):
        Project.load(root).build(driver=driver, lint=False)
    assert own_statements(driver) == sent
    written = json.loads((root / "target" / "run_results.json").read_text())["results"]
    assert [entry["status"] for entry in written if entry["unique_id"].startswith("model.")] == statuses
