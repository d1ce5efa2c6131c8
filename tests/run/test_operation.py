"""Macros that run as operations, on the fake engine: their statements, the rows that they read, how they end."""

from pathlib import Path

import pytest
import yaml

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.errors import ProblemsError
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.faults import missing
from tests.fake_engine.projects import model_files

CASES = yaml.safe_load((Path(__file__).parent / "operations.yml").read_text(encoding="utf-8"))
ROWS = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]


def refuse(_session, text):
    if "nowhere" in text:
        raise missing("nowhere")


def answering(lake=None):
    return FakeDriver(lake, answers={"select": ROWS, "drop": [], "delete": []}, observe=refuse)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_operation(make_project, case):
    root = make_project({**model_files({"fct": None}), "macros/m.sql": case["macro"]})
    lake, logs = Lake(), []
    assert Project.load(root).build(lint=False, driver=FakeDriver(lake)).ok
    driver = answering(lake)
    project = Project.load(root, on_log=lambda log: logs.append(log.message))
    done = project.run_operation(case.get("called", "m"), case.get("arguments"), driver=driver)
    schema = project.graph.nodes["model.shop.fct"].relation.schema
    own = [text for text in driver.statements if text.startswith(("select", "drop", "delete"))]
    assert own == [text.replace("SCHEMA", schema) for text in case.get("statements", [])]
    assert logs == case.get("logs", [])
    assert done.ok is ("problem" not in case)
    if done.ok:
        assert (done.returned.strip() or None if isinstance(done.returned, str) else done.returned) == case.get(
            "returned"
        )
        assert done.statements == len(own)
    else:
        assert [str(problem).partition("\n")[0].rpartition(" [")[0] for problem in done.problems] == [case["problem"]]


def test_a_macro_that_is_not_there_runs_nothing(make_project):
    project = Project.load(make_project({"macros/m.sql": "{% macro grant_all() %}{% endmacro %}"}))
    with pytest.raises(ProblemsError) as refused:
        project.run_operation("grant_al", driver=FakeDriver())
    assert [(each.code, each.hint) for each in refused.value.problems] == [
        ("unknown-macro", 'did you mean "grant_all"?')
    ]


@pytest.mark.parametrize(
    ("words", "status", "out", "err"),
    [
        (["m", "--args", "{days: 3}"], 0, "3 days", "m: 1 statement executed"),
        (["m", "--args", "days: 3", "-q"], 0, "3 days", ""),
        (["m"], 1, "", "macros/m.sql:1:53: error: parameter 'days' was not provided"),
        (["m", "--args", "[3]"], 2, "", "--args must be a mapping"),
        (["m", "--args", "{days: "], 2, "", "--args:1:"),
        (["n"], 2, "", 'the project has no macro "n"'),
    ],
)
def test_the_command(make_project, capfd, words, status, out, err):
    from merge_runner.cli.main import main

    text = "{% macro m(days) %}{% do run_query('select 1') %}{{ days }} days{% endmacro %}"
    root = make_project({"macros/m.sql": text})
    with pytest.raises(SystemExit) as end:
        main(["run-operation", *words, "--project-dir", str(root)], Host(start=Starts(answering())))
    shown = capfd.readouterr()
    assert (end.value.code, shown.out.strip()) == (status, out)
    assert err in shown.err


@pytest.mark.spark
def test_values_of_spark(make_project, driver):
    query = "select 1 as a, 2 as a, named_struct('x', array(1)) as s, map('k', named_struct('y', 2)) as m, null as n"
    root = make_project(
        {"macros/m.sql": f"{{% macro m() %}}{{% do return(run_query({query!r}).rows[0]) %}}{{% endmacro %}}"}
    )
    row = Project.load(root).run_operation("m", driver=driver).returned
    assert row.values() == [1, 2, {"x": [1]}, {"k": {"y": 2}}, None]
    assert (row["a"], row[1], row.keys()) == (1, 2, ["a", "a", "s", "m", "n"])
