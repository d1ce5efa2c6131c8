"""What a build on a branch may be called, what it plans otherwise, and what it refuses."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.formats.branches import branch_name
from merge_runner.plan.branch_plan import branchable, check_isolated, on_branch
from merge_runner.plan.plan import Planner

MERGE = "merge into {{ this }} t using {{ ref('stg') }} s on t.id = s.id when not matched then insert *"


@pytest.mark.parametrize("name", ["ci", "pull-12", "2026.11", "a_b", "_x", "Main"])
def test_names(name):
    assert branch_name(name) == name


@pytest.mark.parametrize("name", ["main", "", "a b", "a/b", "-x", ".x", "a`b", "é", "a\n"])
def test_names_that_no_branch_may_have(name):
    with pytest.raises(ValueError, match=r"branch"):
        branch_name(name)


@pytest.fixture
def prepared(make_project):
    files = {
        "models/stg.sql": "select 1 as id",
        "models/fct.sql": MERGE,
        "models/again.sql": "{{ config(alias='fct') }}-- depends_on: {{ ref('fct') }}\n" + MERGE,
        "models/tab.sql": "{{ config(materialized='table') }} select * from {{ ref('fct') }}",
        "models/near.sql": "{{ config(format='delta') }}" + MERGE,
        "seeds/s.csv": "id\n1\n",
        "seeds/s.yml": "version: 2\nseeds: [{name: s, config: {format: delta}}]",
        "tests/ok.sql": "select * from {{ ref('near') }} where id is null",
    }
    return Project.load(make_project(files, "iceberg")).prepared


def test_views_stand_in_place(prepared):
    planned = on_branch(prepared)
    planner = Planner(planned)
    assert planner.plan("model.shop.stg") is None
    assert "using (\nselect 1 as id\n) s" in planner.plan("model.shop.fct").sql
    assert "using (" not in Planner(prepared).plan("model.shop.fct").sql
    assert prepared.graph.nodes["model.shop.stg"].config.materialized == "view"


def test_what_has_no_branches_is_refused_all_at_once(prepared):
    nodes = prepared.graph.nodes
    planner = Planner(on_branch(prepared))
    plans = {node: plan for node in nodes if (plan := planner.plan(node)) is not None}
    with pytest.raises(ProblemsError) as caught:
        check_isolated(plans, nodes)
    told = [(problem.code, problem.place.path, problem.message.partition(",")[0]) for problem in caught.value.problems]
    assert told == [
        ("no-branches", "models/near.sql", "near writes a delta table"),
        ("no-branches", "seeds/s.csv", "s writes a delta table"),
    ]
    del plans["model.shop.near"], plans["seed.shop.s"]
    check_isolated(plans, nodes)  # a test of a Delta table reads it


def test_each_table_with_branches_once(prepared):
    names = [node.name for node in branchable(prepared.graph, prepared.graph.nodes)]
    assert sorted(names) == ["again", "tab"] or sorted(names) == ["fct", "tab"]
