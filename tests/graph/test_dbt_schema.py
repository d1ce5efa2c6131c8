"""The manifests of whole projects against dbt's own schema (tests/dbt_schemas)."""

import json
from pathlib import Path

import pytest

from merge_runner import Project
from tests.cli.every_kind import FILES
from tests.dbt_schemas import schema_errors

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/*/profiles.yml"))


def manifest_of(root, target):
    Project.load(root, target_path=str(target)).write_manifest()
    return json.loads((target / "manifest.json").read_text())


@pytest.mark.parametrize("project", [ROOT, *EXAMPLES], ids=lambda path: path.name)
def test_the_manifest_of_a_project_is_what_dbt_allows(project, tmp_path):
    document = manifest_of(project, tmp_path)
    assert document["nodes"]
    assert schema_errors(document) == []


ODD = """
version: 2
models:
  - name: odd
    docs: {show: false, colour: blue}
    constraints: [{type: primary_key, columns: [id]}, {type: check, name: positive, expression: id > 0}]
    columns:
      - {name: id, data_type: int, constraints: [{type: not_null, columns: [id]}, {type: unique}], meta: {a: {b: 1}}}
    data_tests: [{unique_combination: {combination_of_columns: [id], config: {severity: warn, meta: {owner: me}}}}]
"""


@pytest.fixture
def every_kind(make_project):
    return make_project({**FILES, "models/odd.sql": "select 1 as id", "models/odd.yml": ODD})


def test_the_manifest_of_every_kind_of_node_is_what_dbt_allows(every_kind, tmp_path):
    document = manifest_of(every_kind, tmp_path / "target")
    assert schema_errors(document) == []
    kinds = {node["resource_type"] for node in document["nodes"].values()}
    assert kinds == {"model", "seed", "test", "analysis"}
    assert all(document[section] for section in ("sources", "unit_tests", "macros", "selectors", "disabled"))


def test_constraints_and_freshness_are_where_dbt_has_them(every_kind, tmp_path):
    document = manifest_of(every_kind, tmp_path / "target")
    odd = document["nodes"]["model.shop.odd"]
    assert odd["constraints"] == [
        {"type": "primary_key", "expression": None, "name": None, "columns": ["id"]},
        {"type": "check", "expression": "id > 0", "name": "positive", "columns": []},
    ]
    assert [each["type"] for each in odd["columns"]["id"]["constraints"]] == ["not_null", "unique"]
    assert odd["docs"] == {"show": False, "node_color": None}
    events = document["sources"]["source.shop.raw.events"]
    assert events["loaded_at_field"] == "at"
    assert events["freshness"] == {
        "warn_after": {"count": 1, "period": "day"},
        "error_after": {"count": 100_000, "period": "day"},
        "filter": None,
    }
    assert document["sources"]["source.shop.raw.orders"]["freshness"] is None


def test_a_relationship_names_its_table_as_dbt_does(every_kind, tmp_path):
    document = manifest_of(every_kind, tmp_path / "target")
    (test,) = [node for node in document["nodes"].values() if node["name"].startswith("relationships_")]
    assert test["test_metadata"]["kwargs"] == {
        "column_name": "amount",
        "to": "ref('numbers')",
        "field": "amount",
        "model": "{{ get_where_subquery(ref('fct')) }}",
    }
    parents = ["model.shop.numbers", "model.shop.fct"]
    assert (test["depends_on"]["nodes"], document["parent_map"][test["unique_id"]]) == (parents, parents)
    assert [each["name"] for each in test["refs"]] == ["numbers", "fct"]


def test_a_key_that_dbt_does_not_have_is_a_fault(every_kind, tmp_path):
    document = manifest_of(every_kind, tmp_path / "target")
    document["nodes"]["model.shop.odd"]["verdict"] = "static"
    document["metadata"]["version"] = "1"
    assert len(schema_errors(document)) == 2
