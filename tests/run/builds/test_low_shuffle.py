"""`low_shuffle`: the rows beside the changed ones are neither shuffled nor written again."""

import pytest

pytestmark = pytest.mark.spark

MERGE = """
{{ config(low_shuffle=ON) }}
merge into {{ this }} as t using (select id, 'VALUE' as v from range(1000) where id % 100 < PART or id >= 990) as s on t.id = s.id
when matched then update set v = s.v
when not matched then insert *
"""


@pytest.fixture
def build(rebuild):
    """Builds the merge again and again; gives the response and the relation."""

    def run(table_format, on, part, value):
        text = MERGE.replace("ON", on, 1).replace("PART", str(part)).replace("VALUE", value)
        result, relation = rebuild({"models/fct.sql": text}, table_format)
        return result.adapter_response, relation

    return run


@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_rows_beside_the_changed_ones_stay_where_they_are(build, spark, table_format):
    _, relation = build(table_format, "false", 100, "old")
    places = f"select id, input_file_name() as file from {relation}"
    before = {row.id: row.file for row in spark.sql(places).collect()}
    assert len(before) == 1000
    response, _ = build(table_format, "true", 1, "new")
    (altered,) = response["altered"]
    assert altered.startswith(
        "property delta.enableDeletionVectors is false"
        if table_format == "delta"
        else "property write.merge.mode is copy-on-write"
    )
    assert (response["rows_updated"], response["rows_copied"]) == (20, 0)
    after = {row.id: row.file for row in spark.sql(places).collect()}
    moved = {id for id, file in before.items() if after[id] != file}
    assert moved == {row.id for row in spark.sql(f"select id from {relation} where v = 'new'").collect()}
    assert len(moved) == 20


def test_it_is_switched_off_again(build):
    build("delta", "true", 100, "old")
    response, _ = build("delta", "false", 1, "new")
    assert response["altered"] == ["property delta.enableDeletionVectors is true, declared false"]
    assert response["rows_copied"] > 0
