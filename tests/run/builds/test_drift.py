"""Builds onto tables that differ from what is declared: altered where no row has to be written again."""

import pytest

pytestmark = pytest.mark.spark

MERGE = """
{{ config(CONFIG) }}
merge into {{ this }} as t using (select 1 as id, 5 as n) as s on t.id = s.id
when not matched then insert *
"""
COLUMNS = """
version: 2
models:
  - name: fct
    columns:
      - {name: id, data_type: int}
      - {name: n, data_type: int, constraints: [{type: check, name: Few, expression: n < MOST}]}
"""


@pytest.fixture
def build(rebuild):
    """Builds the merge with a config and properties again and again; gives the result and the relation."""

    def run(config, columns="version: 2", table_format="delta"):
        return rebuild({"models/fct.sql": MERGE.replace("CONFIG", config), "models/fct.yml": columns}, table_format)

    return run


def operations(spark, relation):
    """What was done to a table but for its MERGEs, of which each build is one."""
    history = [row.operation for row in spark.sql(f"describe history {relation}").collect()]
    return [operation for operation in reversed(history) if operation != "MERGE"]


def test_a_delta_table_is_altered_and_no_file_is_written_again(build, spark):
    first, relation = build("")
    assert "altered" not in first.adapter_response
    files = set(spark.table(str(relation)).inputFiles())
    declared = (
        "cluster_by=['id'], properties={'delta.enableChangeDataFeed': 'true', 'delta.feature.deletionVectors': 'supported', "
        "'delta.minWriterVersion': '5'}"
    )
    again, _ = build(declared, COLUMNS.replace("MOST", "9"))
    assert again.warnings == ()
    assert again.adapter_response["altered"] == [
        "property delta.minWriterVersion is 2, declared 5",
        "property delta.enableChangeDataFeed is not set, declared true",
        "property delta.feature.deletionVectors is not set, declared supported",
        "clustered by (), declared (id)",
        "check Few is missing",
    ]
    assert again.message.endswith("property delta.feature.deletionVectors is not set, declared supported and 2 more")
    assert again.message.count("altered:") == 1
    detail = spark.sql(f"describe detail {relation}").first()
    assert detail.clusteringColumns == ["id"]
    assert detail.properties["delta.enableChangeDataFeed"] == "true"
    assert detail.properties["delta.constraints.few"] == "n < 9"
    assert set(spark.table(str(relation)).inputFiles()) == files
    altered = [*["SET TBLPROPERTIES"] * 3, "CLUSTER BY", "ADD CONSTRAINT"]
    assert operations(spark, relation) == ["CREATE TABLE", *altered]
    same, _ = build(declared, COLUMNS.replace("MOST", " 9"))
    assert ("altered" in same.adapter_response, same.warnings) == (False, ())
    assert len(operations(spark, relation)) == 6


@pytest.mark.slow
def test_what_cannot_be_altered_is_reported_and_the_merge_runs(build, spark):
    build("", COLUMNS.replace("MOST", "10"))
    result, relation = build(
        "partition_by=['id'], properties={'delta.isolationLevel': 'Snapshot'}", COLUMNS.replace("MOST", "5")
    )
    assert "altered" not in result.adapter_response
    level, partitioning, check = result.warnings
    assert partitioning.endswith("fct: partitioned by (), declared (id)")
    assert "property delta.isolationLevel is not set, declared Snapshot: " in level
    assert "fct: check Few is (n < 10), declared (n < 5): 1 row violates it; put these rows right" in check
    assert [tuple(row) for row in spark.table(str(relation)).collect()] == [(1, 5)]


def test_rows_that_violate_a_new_check_are_told(build):
    build("")
    result, _ = build("", COLUMNS.replace("MOST", "5"))
    (warning,) = result.warnings
    assert "check Few is missing: " in warning
    assert "1 row" in warning
    assert "put these rows right, or change the check: the next build adds it" in warning


@pytest.mark.slow
def test_a_table_that_asks_for_no_clustering_keeps_its_own(build, spark):
    build("cluster_by=['id']")
    result, relation = build("")
    assert result.warnings == (f"{relation.name}: clustered by (id), declared ()",)
    assert spark.sql(f"describe detail {relation}").first().clusteringColumns == ["id"]


def test_an_iceberg_table_gets_its_properties(build, spark):
    build("", table_format="iceberg")
    result, relation = build("properties={'write.merge.mode': 'merge-on-read', 'format-version': '2'}")
    assert result.adapter_response["altered"] == ["property write.merge.mode is not set, declared merge-on-read"]
    rows = spark.sql(f"show tblproperties {relation}").collect()
    assert {row.key: row.value for row in rows}["write.merge.mode"] == "merge-on-read"
    same, _ = build("properties={'write.merge.mode': 'merge-on-read', 'format-version': '2'}")
    assert ("altered" in same.adapter_response, same.warnings) == (False, ())
