"""`skip_unchanged: auto`: a build leaves rows out once an earlier one has copied rows for nothing."""

import pytest

pytestmark = pytest.mark.spark

MERGE = """
{{ config(partition_by=['p']) }}
merge into {{ this }} as t using {{ ref('src') }} as s on t.id = s.id and t.p = s.p
when matched and s.n > t.n then update set *
when not matched then insert *
"""


SOURCE = "{{ config(materialized='table') }} select id, id % 40 as p, NEWER as n from range(400)"


def test_a_build_learns_from_the_one_before(rebuild):
    def build(newer):
        result, _ = rebuild({"models/src.sql": SOURCE.replace("NEWER", newer), "models/fct.sql": MERGE}, "delta")
        assert result.status == "success"
        return result.adapter_response, result.message

    build("1")
    second, _ = build("1")
    third, message = build("if(id < 3, 2, 1)")
    fourth, _ = build("if(id < 3, 2, 1)")
    assert second["skip_unchanged"] == {
        "rows_left_out": 0,
        "reason": "its last merges do not show that it would spare copying rows",
    }
    assert (second["rows_copied"], second["rows_updated"]) == (400, 0)
    assert third["skip_unchanged"] == {"rows_left_out": 397}
    assert (third["rows_source"], third["rows_updated"], third["rows_copied"]) == (400, 3, 27)
    assert "397 unchanged source rows left out" in message
    assert fourth["skip_unchanged"] == {"rows_left_out": 400}
    assert (fourth["rows_affected"], fourth["files_removed"] or 0) == (0, 0)
