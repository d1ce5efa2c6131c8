"""Compiled texts: ephemeral models in place, queries without semicolons, texts of tests."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.model_tests import RunTest
from merge_runner.plan.steps.table import DefineView, ReplaceTable

EPHEMERAL = "{{ config(materialized='ephemeral') }}"


def planned(root, name, on_log=lambda _log: None):
    project = Project.load(root, on_log=on_log)
    unique_id = next(node.unique_id for node in project.graph.nodes.values() if node.name == name)
    return Planner(project.prepared).plan(unique_id)


def step(plan, kind):
    return next(step for step in plan.steps if isinstance(step, kind))


def test_an_ephemeral_model_may_end_in_a_semicolon_and_a_comment_and_hold_a_cte(make_project):
    root = make_project(
        {
            "models/a.sql": f"{EPHEMERAL}with x as (select 1 as id) select * from x -- tail",
            "models/b.sql": f"{EPHEMERAL}\nselect * from {{{{ ref('a') }}}}; -- done;\n",
            "models/fct.sql": "merge into {{ this }} as t using {{ ref('b') }} as s on t.id = s.id "
            "when not matched then insert *",
        }
    )
    merge = step(planned(root, "fct"), RunMerge)
    inner = "(\nwith x as (select 1 as id) select * from x -- tail\n)"
    assert f"using (\nselect * from {inner}\n) as s" in merge.sql


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "models/m.sql:1:1", "no statement"),
        ("{{ config(materialized='table') }}\n-- nothing\n", "models/m.sql:1:35", "no statement"),
        ("select 1;\nselect 2", "models/m.sql:2:1", "several statements"),
        ("{{ config(materialized='view') }}\nmerge into a using b on a.id = b.id", "models/m.sql:2:1", "MERGE"),
    ],
)
def test_a_model_that_is_no_query_is_told_before_anything_runs(make_project, text, place, message):
    with pytest.raises(ProblemsError, match=message) as caught:
        planned(make_project({"models/m.sql": text}), "m")
    assert str(caught.value.problems[0].place) == place


def test_a_query_runs_without_its_semicolon_and_places_in_it_stay_right(make_project):
    root = make_project({"models/v.sql": "\n-- head\nselect nope\nfrom x; -- done\n", "models/t.sql": "select 1;"})
    plan = planned(root, "v")
    view = step(plan, DefineView)
    assert view.sql == "-- head\nselect nope\nfrom x"
    statement = f"CREATE VIEW v AS\n{view.sql}"
    assert str(plan.locate(statement, statement.index("nope"))) == "models/v.sql:3:8"
    root = make_project({"models/t.sql": "{{ config(materialized='table') }}select 1;"})
    assert step(planned(root, "t"), ReplaceTable).sql == "select 1"


def test_a_singular_test_may_end_in_a_semicolon_and_a_comment(make_project):
    root = make_project({"tests/t.sql": "select 1 where false; -- never\n"})
    assert step(planned(root, "t"), RunTest).sql == "select 1 where false"


def test_texts_of_a_data_test_are_rendered_and_broken_ones_are_told_at_the_test(make_project):
    tests = (
        "[{unique: {name: ok, config: {where: \"id > {{ var('k', 3) }}\"}}}, {unique: {name: bad, where: '{{ no }}'}}]"
    )
    root = make_project(
        {
            "models/m.sql": "select 1 as id",
            "models/m.yml": f"models:\n  - name: m\n    columns:\n      - name: id\n        data_tests: {tests}\n",
        }
    )
    assert "WHERE id > 3)" in step(planned(root, "ok"), RunTest).sql
    with pytest.raises(ProblemsError) as caught:
        planned(root, "bad")
    assert str(caught.value.problems[0].place).startswith("models/m.yml:5:")
    assert '"no" is not defined' in str(caught.value)


def test_all_hooks_that_fail_are_told(make_project):
    root = make_project(
        {
            "macros/m.sql": "{% macro fail(text) %}{{ exceptions.raise_compiler_error(text) }}{% endmacro %}",
            "models/m.sql": '{{ config(pre_hook=["select {{ target.no }}", "select {{ target.nix }}"]) }}select 1',
        }
    )
    with pytest.raises(ProblemsError) as caught:
        planned(root, "m")
    assert len(caught.value.problems) == 2


def test_what_a_model_logs_is_told_once_when_it_is_compiled(make_project):
    logs = []
    root = make_project({"models/m.sql": "{% if true %}{{ log('hello', info=true) }}{% endif %}select 1"})
    planned(root, "m", logs.append)
    assert [(log.message, log.info) for log in logs] == [("hello", True)]


def test_a_seed_has_hooks(make_project):
    root = make_project(
        {
            "seeds/s.csv": "id\n1\n",
            "seeds/s.yml": "seeds:\n  - name: s\n    config:\n      post_hook: optimize {{ this }}\n",
        }
    )
    steps = planned(root, "s").steps
    assert [type(step).__name__ for step in steps] == ["LoadSeed", "RunHook"]
    assert steps[1].sql == f"optimize {steps[0].layout.relation}"
