"""The example of streams: its numbers."""

import shutil

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark


def test_changes_in_disorder_feed_all_targets(example, driver, spark):
    root, schema = example("streaming")
    (root / "landing").mkdir()
    for number in (1, 2, 3):
        shutil.copy(root / f"data/{number}.json", root / "landing")
        results = Project.load(root).stream(driver=driver, available_now=True)
        assert results.ok, [result.message for result in results.results]

    def rows(table, columns, order):
        return [tuple(row) for row in spark.sql(f"select {columns} from {schema}.{table} order by {order}").collect()]

    assert rows("customers", "id, region, name, is_deleted, seq", "id") == [
        (1, "us", "Ada Lovelace", False, 11),
        (2, "us", "Bob II", False, 12),
        (3, "us", "Cyd", False, 5),
        (4, "eu", "Dee", True, 9),
        (5, "eu", "Eve", False, 10),
    ]
    assert rows("customers_live", "id, name", "id") == [(1, "Ada Lovelace"), (2, "Bob II"), (3, "Cyd"), (5, "Eve")]
    assert rows("customers_history", "id, valid_from_seq, valid_to_seq, is_deleted", "id, valid_from_seq") == [
        *((1, 1, 4, False), (1, 4, 11, False), (1, 11, None, False)),
        *((2, 2, 6, False), (2, 6, 7, False), (2, 7, 12, True), (2, 12, None, False)),
        *((3, 3, 5, False), (3, 5, None, False)),
        *((4, 8, 9, False), (4, 9, None, True)),
        (5, 10, None, False),
    ]
    assert [rows(f"changes_{region}", "count(*), max(seq)", "1") for region in ("eu", "us")] == [[(6, 10)], [(6, 12)]]
    assert rows("audit", "batch_id, changes, deletes, first_seq, last_seq", "batch_id") == [
        (0, 4, 0, 1, 4),
        (1, 7, 2, 5, 10),
        (2, 3, 0, 4, 12),
    ]
    assert rows("regions", "region, customers", "region") == [("eu", 1), ("us", 3)]
    # Insert-only merges write no old row again.
    assert results["changes_us"].adapter_response["rows_copied"] == 0
    assert results["audit"].adapter_response["files_scanned"] == 0


def test_upserts_and_then_deletes_in_two_merges_lose_a_customer_that_came_back(spark):
    """The common form, which is wrong where one batch holds a delete and a later insert of a key."""
    spark.sql("create schema if not exists two_merges")
    for table in ("customers", "customers_live"):
        spark.sql(f"create or replace table two_merges.{table} (id bigint, name string, seq bigint) using delta")
        spark.sql(f"insert into two_merges.{table} values (2, 'Bob', 2)")
    spark.sql(
        "create or replace temp view batch as select * from values ('D', 7L, 2L, 'Bob'), ('I', 12L, 2L, 'Bob II') "
        "as changes (op, seq, id, name)"
    )
    spark.sql("""
        merge into two_merges.customers as t using (select * from batch where op <> 'D') as s on t.id = s.id
        when matched then update set name = s.name, seq = s.seq
        when not matched then insert (id, name, seq) values (s.id, s.name, s.seq)""")
    spark.sql("""
        merge into two_merges.customers as t using (select * from batch where op = 'D') as s on t.id = s.id
        when matched then delete""")
    assert spark.table("two_merges.customers").count() == 0
    spark.sql("""
        merge into two_merges.customers_live as t
        using (select * from (select *, row_number() over (partition by id order by seq desc) as n from batch) where n = 1) as s
        on t.id = s.id
        when matched and s.op = 'D' then delete
        when matched then update set name = s.name, seq = s.seq
        when not matched and s.op <> 'D' then insert (id, name, seq) values (s.id, s.name, s.seq)""")
    assert [tuple(row) for row in spark.table("two_merges.customers_live").collect()] == [(2, "Bob II", 12)]
