"""No name of a table leads out of the warehouse."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ("alias='../../x'", "../../x"),
        ("alias='/tmp/x'", "/tmp/x"),
        ("alias='..'", ".."),
        ("alias='a\\\\b'", "a\\b"),
        ("alias='a\\x00b'", "a\x00b"),
        ("schema='x/../../y'", "{schema}_x/../../y"),
    ],
)
def test_a_name_that_leads_out_of_the_warehouse_is_refused(make_project, config, part):
    root = make_project({"models/m.sql": f"{{{{ config(materialized='table', {config}) }}}} select 1 as x"})
    schema = (root / "profiles.yml").read_text().partition("schema: ")[2].partition("}")[0]
    with pytest.raises(ProblemsError) as caught:
        Project.load(root)
    (problem,) = caught.value.problems
    assert problem.code == "invalid-name"
    assert f"{part.format(schema=schema)!r} cannot be the name of a folder" in problem.message
    assert problem.place.path == "models/m.sql"


def test_a_macro_that_names_tables_is_held_to_it_as_well(make_project):
    macro = "{% macro generate_alias_name(custom, node) %}../{{ node.name }}{% endmacro %}"
    files = {"macros/names.sql": macro, "models/m.sql": "{{ config(materialized='table') }} select 1 as x"}
    with pytest.raises(ProblemsError, match="cannot be the name of a folder"):
        Project.load(make_project(files))
