"""`sort_by`: the sort order of an Iceberg table, at its creation and afterwards."""

import pytest

pytestmark = pytest.mark.spark

MERGE = """
{{ config(CONFIG) }}
merge into {{ this }} as t using (select id, cast(id % 2 as int) as part from range(10)) as s on t.id = s.id
when not matched then insert *
"""


def test_it_is_set_at_creation_and_altered_afterwards(rebuild, spark):
    def build(config):
        result, relation = rebuild({"models/fct.sql": MERGE.replace("CONFIG", config, 1)}, "iceberg")
        rows = spark.sql(f"show tblproperties {relation}").collect()
        properties = {row.key: row.value for row in rows}
        return result, properties.get("sort-order"), properties.get("write.distribution-mode")

    order = "sort_by=['id desc', 'bucket(4, part)'], properties={'write.distribution-mode': 'hash'}"
    result, found, mode = build(order)
    assert (result.adapter_response["created"], mode) == (True, "hash")
    assert found == "id DESC NULLS LAST, bucket(4, part) ASC NULLS FIRST"
    result, again, _ = build(order)
    assert (again, result.adapter_response.get("altered"), result.warnings) == (found, None, ())
    result, found, mode = build("sort_by='part', properties={'write.distribution-mode': 'hash'}")
    assert (found, mode) == ("part ASC NULLS FIRST", "hash")
    (altered,) = result.adapter_response["altered"]
    assert altered == "sorted by (id DESC NULLS LAST, bucket(4, part) ASC NULLS FIRST), declared (part)"
    result, found, _ = build("tags=[]")
    assert found == "part ASC NULLS FIRST"
    assert len(result.warnings) == 1
