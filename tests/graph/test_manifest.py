import json
from datetime import date, datetime, timezone
from decimal import Decimal

import pytest

from merge_runner.graph.artifact import Metadata
from merge_runner.graph.graph import Dag, GenericTest, Graph, Macro, UnitTestCase
from merge_runner.graph.manifest import CompiledText, manifest
from merge_runner.project.schema.selectors import SelectionText, Selector
from merge_runner.relation import Relation
from merge_runner.text import Place

METADATA = Metadata(
    generated_at=datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc),
    invocation_id="a1",
    version="0.1.0",
    invocation_started_at=datetime(2026, 3, 4, 5, 6, 0, tzinfo=timezone.utc),
    env={"CI": "1"},
)


@pytest.fixture
def graph(node_of):
    def _node(unique_id, path, fqn, config=None, **more):
        kind, _, rest = unique_id.partition(".")
        given = {"unique_id": unique_id, "name": rest.rpartition(".")[2], "path": path, "place": Place(path, 1, 1)}
        return node_of(kind, config or {}, **given, fqn=tuple(fqn.split(".")), **more)

    nodes = [
        _node(
            "source.shop.raw.flight",
            "models/sources.yml",
            "shop.raw.flight",
            relation=Relation("flight", "raw", "lake"),
            config={"format": "csv"},
            files=("data/flight.csv",),
            columns={"carrier": {"data_type": "string"}},
            source_name="raw",
        ),
        _node("seed.shop.zones", "seeds/zones.csv", "shop.zones", relation=Relation("zones", "dev"), checksum="5eed"),
        _node(
            "model.shop.stg",
            "models/staging/stg.sql",
            "shop.staging.stg",
            relation=Relation("stg", "dev", sql="(select 1)"),
            config={"materialized": "ephemeral"},
            depends_on=("source.shop.raw.flight", "seed.shop.zones"),
        ),
        _node(
            "model.shop.fct",
            "models/fct.sql",
            "shop.fct",
            relation=Relation("fct flight", "dev"),
            config={"materialized": "merge", "unique_key": ("id",), "meta": {"since": date(2026, 1, 1)}},
            tags=("nightly",),
            depends_on=("model.shop.stg",),
            checksum="abc",
            description="Facts",
            columns={"id": {"data_type": "int", "constraints": [{"type": "not_null"}]}},
            raw_code="merge into {{ this }}",
            macros=("macro.shop.key",),
            patch_path="models/schema.yml",
        ),
        _node(
            "test.shop.unique_fct_id",
            "models/schema.yml",
            "shop.unique_fct_id",
            depends_on=("model.shop.fct",),
            config={"severity": "warn", "fail_calc": None},
            generic_test=GenericTest("unique", {"column_name": "id"}, "model.shop.fct", "id"),
        ),
        _node(
            "test.shop.agree",
            "tests/more/agree.sql",
            "shop.more.agree",
            depends_on=("model.shop.fct",),
        ),
        _node(
            "unit_test.shop.wins",
            "models/schema.yml",
            "shop.wins",
            depends_on=("model.shop.fct",),
            checksum="00",
            unit_test=UnitTestCase(
                "fct",
                ({"input": "this", "rows": [{"day": date(2026, 1, 1), "price": Decimal("1.50")}]},),
                {"rows": [{"day": date(2026, 1, 1)}], "changes": [{"_change_type": "insert"}]},
            ),
        ),
    ]
    by_id = {node.unique_id: node for node in nodes}
    off = _node("model.shop.off", "models/off.sql", "shop.off", config={"enabled": False})
    macro = Macro("macro.shop.key", "key", "macros/key.sql", "{% macro key() %}1{% endmacro %}", ("macro.shop.inner",))
    return Graph(
        "shop", by_id, Dag({node.unique_id: node.depends_on for node in nodes}), {macro.unique_id: macro}, (off,)
    )


@pytest.fixture
def made(graph):
    compiled = {"model.shop.fct": CompiledText("merge into dev.fct", "target/compiled/shop/models/fct.sql")}
    return manifest(
        graph,
        METADATA,
        compiled=compiled,
        selectors={"daily": Selector("daily", SelectionText("tag:daily", Place("selectors.yml", 1, 8)), "tag:daily")},
    )


def test_it_has_the_sections_of_version_12_and_says_who_made_it(made):
    sections = "metadata nodes sources macros docs exposures metrics groups selectors disabled parent_map child_map"
    more = "group_map saved_queries semantic_models unit_tests functions"
    assert list(made) == f"{sections} {more}".split()
    assert made["metadata"] == {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "dbt_version": "1.10.0",
        "generated_at": "2026-03-04T05:06:07.000000Z",
        "invocation_id": "a1",
        "invocation_started_at": "2026-03-04T05:06:00.000000Z",
        "env": {"CI": "1", "MERGE_RUNNER_VERSION": "0.1.0"},
        "project_name": "shop",
        "adapter_type": "spark",
    }


def test_each_kind_of_node_stands_in_its_section(made):
    assert [key.partition(".")[0] for key in made["nodes"]] == ["seed", "model", "model", "test", "test"]
    assert list(made["sources"]) == ["source.shop.raw.flight"]
    assert list(made["unit_tests"]) == ["unit_test.shop.wins"]
    assert list(made["macros"]) == ["macro.shop.key"]
    assert made["disabled"]["model.shop.off"][0]["config"]["enabled"] is False
    assert made["selectors"] == {"daily": {"name": "daily", "definition": "tag:daily", "description": ""}}


def test_a_model_is_described_as_dbt_does(made):
    model = made["nodes"]["model.shop.fct"]
    expected = {
        "name": "fct",
        "resource_type": "model",
        "package_name": "shop",
        "path": "fct.sql",
        "original_file_path": "models/fct.sql",
        "fqn": ["shop", "fct"],
        "alias": "fct flight",
        "database": None,
        "schema": "dev",
        "relation_name": "dev.`fct flight`",
        "tags": ["nightly"],
        "depends_on": {"nodes": ["model.shop.stg"], "macros": ["macro.shop.key"]},
        "checksum": {"name": "sha256", "checksum": "abc"},
        "description": "Facts",
        "raw_code": "merge into {{ this }}",
        "language": "sql",
        "refs": [{"name": "stg", "package": None, "version": None}],
        "sources": [],
        "patch_path": "shop://models/schema.yml",
        "compiled": True,
        "compiled_code": "merge into dev.fct",
        "compiled_path": "target/compiled/shop/models/fct.sql",
    }
    assert {key: model[key] for key in expected} == expected
    config = {
        "enabled": True,
        "tags": ["nightly"],
        "meta": {"since": "2026-01-01"},
        "materialized": "merge",
        "unique_key": ["id"],
    }
    assert {key: model["config"][key] for key in config} == config
    assert "alias" not in model["config"]  # what is not set is left out
    assert model["columns"]["id"] == {
        "name": "id",
        "description": "",
        "data_type": "int",
        "constraints": [{"type": "not_null"}],
        "meta": {},
        "tags": [],
    }


def test_an_ephemeral_model_has_no_relation_and_names_its_refs_and_sources(made):
    model = made["nodes"]["model.shop.stg"]
    assert (model["relation_name"], model["path"], model["compiled"]) == (None, "staging/stg.sql", False)
    assert model["sources"] == [["raw", "flight"]]
    assert [ref["name"] for ref in model["refs"]] == ["zones"]


def test_a_source_says_where_its_data_is(made):
    source = made["sources"]["source.shop.raw.flight"]
    assert (source["database"], source["schema"], source["identifier"]) == ("lake", "raw", "flight")
    assert (source["source_name"], source["relation_name"]) == ("raw", "lake.raw.flight")
    assert source["external"] == {"location": "data/flight.csv", "file_format": "csv"}


def test_tests_say_what_they_call_and_what_they_are_attached_to(made):
    generic, singular = made["nodes"]["test.shop.unique_fct_id"], made["nodes"]["test.shop.agree"]
    arguments = {"column_name": "id", "model": "{{ get_where_subquery(ref('fct')) }}"}
    assert generic["test_metadata"] == {"name": "unique", "kwargs": arguments, "namespace": None}
    assert (generic["column_name"], generic["attached_node"]) == ("id", "model.shop.fct")
    assert generic["config"] == {
        "enabled": True,
        "tags": [],
        "meta": {},
        "materialized": "test",
        "severity": "warn",
    }
    assert (generic["path"], generic["original_file_path"]) == ("unique_fct_id.sql", "models/schema.yml")
    assert (singular["path"], "test_metadata" in singular) == ("more/agree.sql", False)


def test_a_unit_test_keeps_its_rows_as_plain_values_and_leaves_out_what_dbt_has_no_room_for(made):
    unit_test = made["unit_tests"]["unit_test.shop.wins"]
    assert unit_test["given"] == [{"input": "this", "rows": [{"day": "2026-01-01", "price": "1.50"}]}]
    assert unit_test["expect"] == {"rows": [{"day": "2026-01-01"}]}
    assert (unit_test["model"], unit_test["checksum"]) == ("fct", "00")


def test_the_maps_lead_both_ways_between_parents_and_children(made):
    assert made["parent_map"]["model.shop.stg"] == ["source.shop.raw.flight", "seed.shop.zones"]
    assert made["child_map"]["model.shop.fct"] == ["test.shop.agree", "test.shop.unique_fct_id", "unit_test.shop.wins"]
    assert made["parent_map"].keys() == made["child_map"].keys()


def test_it_is_plain_json_that_comes_back_the_same(made):
    assert json.loads(json.dumps(made, allow_nan=False)) == made


# The keys that dbt's schema of version 12 knows; it allows no others.
_ALL = (
    "database schema name resource_type package_name path original_file_path unique_id fqn alias checksum config tags "
    "description columns meta group docs patch_path build_path unrendered_config created_at config_call_dict "
    "unrendered_config_call_dict relation_name raw_code doc_blocks depends_on"
)
_SQL = (
    f"{_ALL} language refs sources metrics functions compiled_path compiled compiled_code extra_ctes_injected "
    "extra_ctes _pre_injected_sql contract"
)
KEYS = {
    "seed.shop.zones": f"{_ALL} root_path defer_relation",
    "model.shop.fct": f"{_SQL} access constraints version latest_version deprecation_date defer_relation primary_key",
    "test.shop.agree": _SQL,
    "test.shop.unique_fct_id": f"{_SQL} column_name file_key_name attached_node test_metadata",
}
REQUIRED = "database schema name resource_type package_name path original_file_path unique_id fqn alias checksum"


@pytest.mark.parametrize("unique_id", KEYS)
def test_a_node_has_the_keys_that_strict_readers_demand_and_no_others(made, unique_id):
    keys = made["nodes"][unique_id].keys()
    assert set(REQUIRED.split()) <= keys <= set(KEYS[unique_id].split())
