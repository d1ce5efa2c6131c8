"""What `tables.py` says that engines do otherwise than the standard: Delta 4.4.0 and Iceberg 1.12.0 on Spark 4.1."""

from __future__ import annotations

import pytest

from tests.oracle.tables import REFUSED

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCHEMA = {"delta": "oracle_facts", "copy-on-write": "ice.oracle_facts", "merge-on-read": "ice.oracle_facts_marked"}
"""A schema for each way to run a MERGE; the last two are Iceberg's."""

TWICE = "(select * from values (1L, 'x'), (1L, 'y') as v(id, w))"


@pytest.fixture(scope="module", params=SCHEMA)
def mode(driver, request):
    schema = SCHEMA[request.param]
    driver.spark.sql(f"create schema if not exists {schema}")
    yield request.param
    for name in ("folders", "several", "deleted"):
        driver.spark.sql(f"drop table if exists {schema}.{name}")
    driver.spark.sql(f"drop schema {schema}")


def make(spark, mode, name, rows):
    table = f"{SCHEMA[mode]}.{name}"
    spark.sql(f"drop table if exists {table}")
    kind = "delta" if mode == "delta" else "iceberg"
    said = "" if mode == "delta" else f"tblproperties ('write.merge.mode' = '{mode}')"
    spark.sql(f"create table {table} (id bigint, w string) using {kind} partitioned by (w) {said}")
    spark.sql(f"insert into {table} values {rows}")
    return table


def test_partition_values_that_folders_cannot_say(spark, mode):
    table = make(spark, mode, "folders", "(1, ''), (2, '__HIVE_DEFAULT_PARTITION__'), (3, 'a')")
    kept = {row.id: row.w for row in spark.table(table).collect()}
    assert kept == ({1: None, 2: None, 3: "a"} if mode == "delta" else {1: "", 2: "__HIVE_DEFAULT_PARTITION__", 3: "a"})


@pytest.mark.parametrize("insert", ["when not matched then insert * ", ""], ids=["and new rows", "by source alone"])
def test_several_matches_without_a_clause_for_them(spark, mode, insert):
    table = make(spark, mode, "several", "(1, 'a'), (2, 'b')")
    text = f"merge into {table} as t using {TWICE} as s on t.id = s.id {insert}when not matched by source then delete"
    if mode == "delta":
        with pytest.raises(Exception, match=REFUSED):
            spark.sql(text)
        assert spark.table(table).count() == 2
    else:
        spark.sql(text)
        # Spark 4.1 does not look for several matches here, and copies the row once for each of them.
        assert [row.id for row in spark.table(table).collect()] == ([1, 1] if mode == "copy-on-write" else [1])


def test_the_rows_that_a_lone_delete_counts_where_several_match(spark, mode):
    table = make(spark, mode, "deleted", "(1, 'a'), (2, 'b')")
    ran = spark.sql(f"merge into {table} as t using {TWICE} as s on t.id = s.id when matched then delete").collect()
    assert [row.id for row in spark.table(table).collect()] == [2]
    if mode == "delta":
        assert ran[0].num_deleted_rows == 1
    else:
        (summary,) = spark.sql(f"select summary from {table}.snapshots order by committed_at desc limit 1").first()
        assert summary["spark.merge-into.num-target-rows-deleted"] == "2"  # the pairs, and not the rows
