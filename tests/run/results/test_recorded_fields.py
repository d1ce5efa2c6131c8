"""What builds write into adapter responses and the journal has the keys and types that the reference describes."""

import json
from typing import get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

from merge_runner import Project
from merge_runner.engine.response import PARTS
from merge_runner.run.results.event_types import EVENTS
from merge_runner.run.results.events import Level
from tests.dbt_schemas import schema_errors

pytestmark = pytest.mark.spark

FILES = {
    "seeds/price.csv": "id,p,v\n1,0,7\n2,1,8\n",
    "models/fct.sql": """
        {{ config(partition_by=['p'], expect_merge={'min_source_rows': 1}, optimize={'after': 1}) }}
        merge into {{ this }} as t using (select * from {{ ref('price') }}) as s on t.id = s.id and t.p = s.p
        when matched then update set * when not matched then insert *
        """,
    "models/tab.sql": "{{ config(materialized='table') }} select * from {{ ref('fct') }}",
    "models/vw.sql": "{{ config(enabled='FORMAT' == 'delta') }} select * from {{ ref('fct') }}",  # JDBC catalogs have no views
    "models/schema.yml": """
        seeds: [{name: price, config: {format: FORMAT}}]
        models:
          - name: fct
            columns:
              - {name: id, data_type: int, data_tests: [{accepted_values: {values: [1], quote: false, severity: warn}}]}
              - {name: p, data_type: int}
              - {name: v, data_type: int, data_tests: [not_null]}
        unit_tests:
          - name: wrong
            model: fct
            config: {tags: [wrong]}
            given: [{input: ref('price'), rows: [{id: 1, p: 0, v: 1}]}]
            expect: {rows: [{id: 1, v: 2}]}
        """,
}
KEYS = {name: hint for kind in PARTS for name, hint in get_type_hints(kind).items()}
KEYS |= dict.fromkeys(("expect_merge", "predicted", "optimized"), dict) | {
    "rows_affected": int | None,
    "operation": str,
}


def _wrong(values, hints):
    """The keys that are not described, or have another type."""
    for name, value in values.items():
        try:
            TypeAdapter(hints[name]).validate_python(value, strict=True)
        except (KeyError, ValidationError) as error:
            yield f"{name}: {value!r}: {error}"


@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_responses_and_events(make_project, driver, table_format):
    root = make_project({name: text.replace("FORMAT", table_format) for name, text in FILES.items()}, table_format)
    project = Project.load(root)
    found = []
    for work in (
        lambda: project.build(driver=driver, lint=False, exclude="tag:wrong"),
        lambda: project.build(driver=driver, lint=False, select="fct tab", exclude="tag:wrong"),
        lambda: project.test(driver=driver, select="tag:wrong"),
        lambda: project.optimize(driver=driver, select="fct"),
    ):
        found += work().results
        for artifact in ("run_results", "manifest"):
            assert schema_errors(json.loads((root / f"target/{artifact}.json").read_text())) == []
    assert [result.message for result in found if result.status in ("error", "skipped")] == []
    assert {result.status for result in found} >= {"success", "pass", "warn", "fail"}
    assert [wrong for result in found for wrong in _wrong(result.adapter_response, KEYS)] == []
    keys = {key for result in found for key in result.adapter_response}
    assert keys >= {"rows_inserted", "table_version", "expect_merge", "failing_rows", "differences", "bounds"}

    events = [json.loads(line) for line in (root / "target" / "journal.jsonl").read_text().splitlines()]
    everywhere = {"event": str, "at": str, "level": Level}
    for event in events:
        hints = {**get_type_hints(EVENTS[event["event"]]), **everywhere}
        assert sorted(event) == sorted(hints)
        assert list(_wrong(event, hints)) == []
    assert {event["event"] for event in events} >= {"invocation_started", "node_started", "node_finished", "running"}
