"""The page of a project as data."""

import pytest

from merge_runner.graph.model_text import OlderRows
from merge_runner.pages.runs.history import LastResult

STG = "{{ config(materialized='view', tags=['staging']) }} select id, amount * 2 as amount, day from {{ source('raw', 'orders') }}"
FCT = """{{ config(partition_by=['day']) }}
merge into {{ this }} as t using {{ ref('stg') }} as s on t.id = s.id and t.day = {{ today() }}
when matched then update set total = t.total + s.amount
when not matched then insert (id, total, day) values (s.id, s.amount, s.day)
"""
YAML = """
sources: [{name: raw, tables: [{name: orders, columns: [{name: id}, {name: amount}, {name: day, data_type: date}]}]}]
models:
  - name: fct
    description: "All <b>orders</b>"
    columns:
      - {name: id, data_type: bigint, description: The key, data_tests: [not_null]}
      - {name: total, data_type: bigint}
      - {name: day, data_type: date}
unit_tests:
  - name: adds
    model: fct
    given: [{input: ref('stg'), rows: []}, {input: this, rows: []}]
    expect: {rows: []}
"""
FILES = {
    "models/marts/fct.sql": FCT,
    "models/stg.sql": STG,
    "models/all.yml": YAML,
    "macros/today.sql": "{% macro today() %}date '2024-01-01'{% endmacro %}",
}


@pytest.fixture
def page(data_of):
    return data_of(FILES)


def _named(data, name):
    return next(node for node in data["nodes"] if node["name"] == name)


def test_nodes_are_listed_with_what_search_and_graph_need(page):
    data, _ = page
    fct = _named(data, "fct")
    number = data["nodes"].index(_named(data, "stg"))
    assert fct["columns"] == ["id", "total", "day"]
    assert fct["parents"] == [number] and fct["group"] == "marts" and fct["about"] == "All <b>orders</b>"
    assert (fct["verdict"], fct["materialized"], fct["format"]) == ("static", "merge", "delta")
    assert [_named(data, name)["at"][0] for name in ("raw.orders", "stg", "fct")] == [0, 1, 2]
    assert all("at" not in node for node in data["nodes"] if node["kind"] in ("test", "unit_test"))


def test_a_model_has_its_texts_columns_proof_and_tests(page):
    data, details = page
    fct = details["model.test.fct"] if "model.test.fct" in details else details[_named(data, "fct")["id"]]
    assert fct["author"] == FCT
    assert ["jinja", "date '2024-01-01'"] in fct["compiled"]
    assert "".join(text for _, text in fct["compiled"]).strip().startswith("merge into ")
    assert [(each["name"], each["type"]) for each in fct["columns"]] == [
        ("id", "bigint"),
        ("total", "bigint"),
        ("day", "date"),
    ]
    assert [data["nodes"][each]["kind"] for each in fct["columns"][0]["tests"]] == ["test"]
    assert sorted(data["nodes"][each]["kind"] for each in fct["tests"]) == ["test", "unit_test"]
    assert [(each["text"], each["prunes"]) for each in fct["proof"]["conjuncts"]] == [
        ("t.id = s.id", False),
        ("t.day = date '2024-01-01'", True),
    ]
    assert fct["layout"]["partition_by"] == ["day"]
    assert data["macros"][0]["used_by"] == [data["nodes"].index(_named(data, "fct"))]


def test_lineage_leads_both_ways(page):
    data, details = page
    stg, fct = (data["nodes"].index(_named(data, name)) for name in ("stg", "fct"))
    up = details[data["nodes"][fct]["id"]]["lineage"]["columns"]["total"]
    assert [stg, "amount", "identity"] in up and [fct, "total", "transformation"] in up
    down = details[data["nodes"][stg]["id"]]["lineage"]["readers"]["amount"]
    assert [fct, "total", "identity"] in down
    assert [fct, "*", "join"] in details[data["nodes"][stg]["id"]]["lineage"]["readers"]["id"]


def test_a_model_that_is_no_merge_has_no_verdict_and_a_source_begins_lineage(page):
    data, details = page
    assert "verdict" not in _named(data, "stg") and "proof" not in details[_named(data, "stg")["id"]]
    assert "columns" not in details[_named(data, "raw.orders")["id"]]["lineage"]


def test_last_results_and_freshness_are_shown(data_of):
    last = {
        "model.test.fct": LastResult(
            "2024-05-01T10:00:00Z",
            {"status": "success", "seconds": 1.5, "response": {"files_scanned": 1, "files_total": 8}},
        )
    }
    data, _ = data_of(FILES)
    fct, raw = _named(data, "fct")["id"], _named(data, "raw.orders")["id"]
    data, details = data_of(FILES, {fct: last["model.test.fct"]}, {raw: {"status": "warn"}})
    assert (_named(data, "fct")["status"], _named(data, "fct")["seconds"], _named(data, "fct")["files"]) == (
        "success",
        1.5,
        [1, 8],
    )
    assert details[fct]["last"]["at"] == "2024-05-01T10:00:00Z"
    assert (_named(data, "raw.orders")["fresh"], details[raw]["freshness"]) == ("warn", {"status": "warn"})


def test_the_last_work_is_shown_next_to_a_run_that_did_nothing(data_of):
    fct = "model.shop.fct"
    work = LastResult(
        "2024-05-01", {"status": "success", "seconds": 2.5, "response": {"files_scanned": 1, "files_total": 8}}
    )
    idle = LastResult("2024-05-02", {"status": "no-op", "seconds": 0.001, "response": {"table_version": 1}}, work)
    data, details = data_of(FILES, {fct: idle})
    line = _named(data, "fct")
    assert (line["status"], line["seconds"], line["files"]) == ("no-op", 2.5, [1, 8])
    assert (details[fct]["last"]["at"], details[fct]["last_work"]["at"]) == ("2024-05-02", "2024-05-01")


def test_an_empty_project_has_a_page(data_of):
    data, details = data_of({})
    assert (data["nodes"], data["macros"], details) == ([], [], {})


def test_no_secret_is_in_a_page(data_of, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "s3cr3t-value")
    data, details = data_of(
        {"models/a.sql": "{{ config(materialized='view') }} select '{{ env_var('API_TOKEN') }}' as a"}
    )
    assert "s3cr3t-value" not in str((data, details))


def test_rows_of_an_older_text_are_said_where_there_are_some(data_of):
    fct, stg = "model.shop.fct", "model.shop.stg"
    _, details = data_of(FILES, older_rows={fct: OlderRows(4, 31), stg: OlderRows(0, 2)})
    assert details[fct]["older_rows"].startswith("4 of 31 commits were made by an older text")
    assert "older_rows" not in details[stg]
