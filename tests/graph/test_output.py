import json

import pytest

from merge_runner.graph.order import topological
from merge_runner.graph.output import output


@pytest.fixture
def graph(graph_of):
    return graph_of(
        [
            {"name": "raw.flight", "type": "source", "path": "models/sources.yml", "config": {"format": "csv"}},
            {
                "name": "stg",
                "in": "staging",
                "parents": ["raw.flight"],
                "tags": ["nightly"],
                "config": {"materialized": "view"},
            },
            {"name": "fct", "parents": ["stg"], "alias": "fct_flight", "macros": ["key"]},
            {"name": "unique_fct", "type": "test", "calls": "unique", "path": "models/fct.yml", "parents": ["fct"]},
            {"name": "wins", "type": "unit_test", "tests": "fct", "path": "models/fct.yml", "parents": ["fct"]},
        ],
        macros=[{"name": "key"}],
    )


def lines(graph, form, ids=None):
    return list(output(graph, ids or topological(graph), form))


def test_names_stand_in_the_order_of_the_ids_and_sources_have_two_parts(graph):
    assert lines(graph, "name") == ["raw.flight", "stg", "fct", "unique_fct", "wins"]


def test_paths_are_those_of_the_files(graph):
    assert lines(graph, "path")[:3] == ["models/sources.yml", "models/staging/stg.sql", "models/fct.sql"]


def test_json_lines_have_the_keys_of_dbt(graph):
    found = [json.loads(line) for line in lines(graph, "json")]
    config = {"enabled": True, "tags": ["nightly"], "meta": {}, "materialized": "view"}
    assert {key: found[1]["config"][key] for key in config} == config
    assert found[2].pop("config")["materialized"] == "table"
    assert found[2] == {
        "name": "fct",
        "resource_type": "model",
        "package_name": "shop",
        "original_file_path": "models/fct.sql",
        "unique_id": "model.shop.fct",
        "alias": "fct_flight",
        "tags": [],
        "depends_on": {"nodes": ["model.shop.stg"], "macros": ["macro.shop.key"]},
    }
    assert (found[0]["source_name"], found[0]["name"], "alias" in found[0]) == ("raw", "flight", False)
    assert [value["resource_type"] for value in found] == ["source", "model", "model", "test", "unit_test"]


def test_levels_are_numbered_and_hold_what_can_run_side_by_side(graph):
    assert lines(graph, "levels") == [
        "level 1: raw.flight",
        "level 2: stg",
        "level 3: fct",
        "level 4: unique_fct, wins",
    ]
    assert lines(graph, "levels", ["model.shop.fct", "source.shop.raw.flight"]) == [
        "level 1: raw.flight",
        "level 2: fct",
    ]


def test_dot_draws_the_selection_with_edges_through_what_is_not_selected(graph):
    assert lines(graph, "dot", ["source.shop.raw.flight", "model.shop.fct"]) == [
        'digraph "shop" {',
        "  rankdir=LR;",
        '  "source.shop.raw.flight" [label="raw.flight", shape=cylinder];',
        '  "model.shop.fct" [label="fct", shape=box];',
        '  "source.shop.raw.flight" -> "model.shop.fct";',
        "}",
    ]


def test_names_that_dot_would_read_otherwise_are_escaped(graph_of):
    graph = graph_of([{"name": 'say "hi"\\N'}])
    assert lines(graph, "dot")[2] == r'  "model.shop.say \"hi\"\\N" [label="say \"hi\"\\N", shape=box];'


@pytest.mark.parametrize("form", ["name", "path", "json", "levels"])
def test_no_nodes_give_no_lines(graph, form):
    assert list(output(graph, [], form)) == []
