"""In which catalog the table of an Iceberg model lies."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.explain.explain import explain
from merge_runner.plan.plan import Planner

MERGE = "merge into {{ this }} as t using (select 1 as id) as s on t.id = s.id when not matched then insert *"


@pytest.fixture
def load(make_project):
    """A project of an Iceberg merge `fct`, a view, a seed and a Delta table, with an output that has these keys."""

    def run(output):
        root = make_project(
            {
                "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\nformat = "iceberg"\n',
                "profiles.yml": f"shop: {{outputs: {{dev: {{{output}}}}}}}\n",
                "models/fct.sql": MERGE,
                "models/seen.sql": "select * from {{ ref('fct') }}",
                "models/other.sql": "{{ config(format='delta', materialized='table') }} select 1 as id",
                "seeds/few.csv": "id\n1\n",
                "seeds/few.yml": "version: 2\nseeds: [{name: few, config: {format: iceberg}}]\n",
            }
        )
        return Project.load(root)

    return run


def names(project):
    return {node.name: node.relation.name for node in project.graph.nodes.values()}


def test_the_only_catalog_takes_the_tables_and_no_views(load):
    project = load("schema: shop, catalogs: {ice: {type: embedded}, own: {class: x.Y}}")
    found = {"fct": "ice.shop.fct", "seen": "shop.seen", "other": "shop.other", "few": "ice.shop.few"}
    assert names(project) == found
    explain(project.prepared, project.select().ids)


def test_a_schema_that_names_a_catalog_means_it(load):
    catalogs = "catalogs: {ice: {type: embedded}, far: {type: rest}}"
    assert names(load(f"schema: far.shop, {catalogs}"))["fct"] == "far.shop.fct"


@pytest.mark.parametrize(
    ("output", "message", "hint"),
    [
        (
            "schema: shop",
            "there is no Iceberg catalog",
            "write `catalogs: {ice: {type: embedded}}` into the output dev",
        ),
        (
            "schema: shop, catalogs: {one: {type: embedded}, two: {type: embedded}}",
            "does not say in which catalog: one, two",
            "write `schema: one.shop` into the output dev",
        ),
    ],
)
def test_without_one_catalog_it_is_said_what_to_write(load, output, message, hint):
    project = load(output)
    with pytest.raises(ProblemsError) as caught:
        explain(project.prepared, project.select().ids)
    assert all(problem.code == "iceberg-catalog" for problem in caught.value.problems)
    (problem,) = (each for each in caught.value.problems if each.message.startswith("fct "))
    assert message in problem.message
    assert hint in problem.hint


UNIT_TEST = """
models: [{name: fct, columns: [{name: id, data_type: int}]}]
unit_tests: [{name: u, model: fct, given: [{input: this, rows: []}], expect: {rows: [{id: 1}]}}]
"""


def planned(make_project, output):
    root = make_project(
        {
            "profiles.yml": f"shop: {{outputs: {{dev: {{{output}}}}}}}\n",
            "models/fct.sql": "{{ config(format='iceberg') }}" + MERGE,
            "models/m.yml": UNIT_TEST,
        }
    )
    return Planner(Project.load(root).prepared, "0123456789").plan("unit_test.shop.fct.u")


def test_a_unit_test_says_what_to_write_where_there_is_no_catalog(make_project):
    with pytest.raises(ProblemsError) as caught:
        planned(make_project, "schema: shop")
    (problem,) = caught.value.problems
    assert problem.message == "fct is an Iceberg table, and there is no Iceberg catalog"
    assert "write `catalogs: {ice: {type: embedded}}` into the output dev" in problem.hint


@pytest.mark.parametrize(
    "catalogs", ["{ice: {type: embedded}}", "{one: {type: embedded}, two: {type: embedded}}", "{far: {type: rest}}"]
)
def test_a_unit_test_has_a_catalog_of_its_own(make_project, catalogs):
    (step,) = planned(make_project, f"schema: shop, catalogs: {catalogs}").steps
    assert step.target.relation.catalog == "merge_runner_unit_tests"


def test_a_delta_table_in_a_catalog_of_iceberg_says_which_format_it_takes(load):
    project = load("schema: ice.shop, catalogs: {ice: {type: embedded}}")
    with pytest.raises(ProblemsError) as caught:
        explain(project.prepared, project.select().ids)
    (problem,) = caught.value.problems
    assert problem.code == "iceberg-catalog"
    assert problem.message == "other is a Delta table, and its catalog `ice` takes Iceberg tables alone"
    assert problem.hint == "write `format: iceberg` into its config, or give it a schema outside of `ice`"
    assert problem.place.path == "models/other.sql"


@pytest.mark.parametrize(
    "output",
    [
        "schema: shop, master: yarn",
        "schema: shop, catalogs: {spark_catalog: {class: org.apache.iceberg.spark.SparkSessionCatalog}}",
        "schema: shop, conf: {spark.sql.defaultCatalog: ice}",
    ],
)
def test_a_session_with_a_catalog_of_its_own_is_left_alone(load, output):
    project = load(output)
    assert names(project)["fct"] == "shop.fct"
    explain(project.prepared, project.select().ids)
