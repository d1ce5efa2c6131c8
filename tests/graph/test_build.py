"""The graph of a project: names of tables and tests, and everything that is wrong at once."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError


def test_the_projects_macros_name_schema_and_alias(make_project):
    root = make_project(
        {
            "profiles.yml": "shop: {outputs: {dev: {schema: dev}}}",
            "macros/names.sql": "{% macro generate_schema_name(custom, node) %} {{ custom or 'own' }} {% endmacro %}\n"
            "{% macro generate_alias_name(custom_alias_name, node) %}\n{{ custom_alias_name or 'v_' ~ node.name }}\n{% endmacro %}",
            "models/a.sql": "select 1 as id",
            "models/b.sql": "{{ config(schema='mart', alias='bee') }}select 1 as id",
        }
    )
    nodes = Project.load(root).graph.nodes
    assert str(nodes["model.shop.a"].relation) == "own.v_a"
    assert str(nodes["model.shop.b"].relation) == "mart.bee"


def test_every_circle_is_told_beside_what_else_is_wrong(make_project):
    root = make_project(
        {
            "models/a.sql": "{{ ref('b') }}",
            "models/b.sql": "{{ ref('a') }}",
            "models/c.sql": "{{ ref('c') }}",
            "models/d.sql": "{{ ref('nowhere') }}{{ config(typo=1) }}",
            "models/m.yml": "models: [{name: a, colums: []}]",
            "seeds/e.csv": "id\n1\n",
        }
    )
    (root / "seeds/e.csv").write_bytes(b"id\n\xff\n")
    with pytest.raises(ProblemsError) as caught:
        Project.load(root)
    problems = caught.value.problems
    assert sorted(problem.code for problem in problems) == [
        "cycle",
        "cycle",
        "not-utf8",
        "unknown-key",
        "unknown-key",
        "unknown-ref",
    ]
    assert {"a -> b -> a", "c -> c"} <= {problem.message.rpartition(": ")[2] for problem in problems}


def test_a_data_test_has_the_name_that_its_author_gave_and_none_leads_out_of_a_folder(make_project):
    tests = "[not_null, {unique: {name: one_id}}]"
    root = make_project(
        {
            "models/a.sql": "select 1 as id",
            "models/m.yml": f"models: [{{name: a, columns: [{{name: '../x y', data_tests: {tests}}}]}}]",
        }
    )
    names = {node.name for node in Project.load(root).graph.nodes.values() if node.resource_type == "test"}
    assert names == {"not_null_a__x_y", "one_id"}


@pytest.mark.parametrize(("kind", "told"), [("table", True), ("view", True), ("merge", False), ("ephemeral", False)])
def test_two_models_of_one_table_are_told_unless_both_are_merges(make_project, kind, told):
    merge = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when matched then delete"
    root = make_project(
        {
            "models/a.sql": merge,
            "models/b.sql": f"{{{{ config(alias='A', materialized='{kind}') }}}}"
            + (merge if kind == "merge" else "select 1"),
        }
    )
    if not told:
        assert len(Project.load(root).graph.nodes) == 2
        return
    with pytest.raises(ProblemsError, match=r"b is the table .*A, and so is a"):
        Project.load(root)
