"""The example of streams: its numbers."""

import os
import shutil

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.explain.explain import explain


@pytest.fixture
def stream(driver):
    """Reads what has landed; gives the results and the events."""

    def run(root, select=()):
        events = []
        project = Project.load(root)
        results = project.stream(select, driver=driver, available_now=True, on_event=events.append)
        return results, [event for event in events if event.event.startswith(("batch", "stream"))]

    return run


def test_an_insert_only_merge_is_one_anti_join(example):
    root, _ = example("streaming")
    prepared = Project.load(root).prepared
    ((told,),) = explain(prepared, ["model.streaming.changes_us"]).levels
    assert told.merge.statement.merge_class == "insert-only"
    assert (told.engine_plan.find, told.engine_plan.write) == (None, "left anti")


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.lines
def test_changes_in_disorder_feed_all_targets(example, stream, spark):
    root, schema = example("streaming")
    (root / "landing").mkdir()

    def land(number):
        shutil.copy(root / f"data/{number}.json", root / "landing")

    def rows(table, columns, order):
        return [tuple(row) for row in spark.sql(f"select {columns} from {schema}.{table} order by {order}").collect()]

    def audit():
        return rows("audit", "batch_id, changes, deletes, first_seq, last_seq", "batch_id")

    for number in (1, 2, 3):
        land(number)
        results, events = stream(root)
        assert results.ok, [result.message for result in results.results]

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
    assert audit() == [(0, 4, 0, 1, 4), (1, 7, 2, 5, 10), (2, 3, 0, 4, 12)]
    assert rows("regions", "region, customers", "region") == [("eu", 1), ("us", 3)]
    # Insert-only merges write no old row again.
    assert results["changes_us"].adapter_response["rows_copied"] == 0
    assert results["audit"].adapter_response["files_scanned"] == 0

    # How many ran at once, how long each table and the batch took, and what a batch takes at most.
    began, ended, whole = (event.data for event in events if event.event != "stream_progress")
    threads = min(7, max(2, (os.cpu_count() or 1) // 2))
    assert (began["nodes"], began["threads"]) == (7, threads)
    assert 1 < len({result.thread_id for result in results.results}) <= threads
    seconds = {target["node"]: target["seconds"] for target in ended["targets"]}
    assert len(seconds) == 7
    assert 0 < min(seconds.values()) <= max(seconds.values()) <= ended["seconds"]
    assert (whole["batches"], whole["rows"], whole["p50"], whole["p99"]) == (1, 3, ended["seconds"], ended["seconds"])

    # A batch that three tables refuse: the others have it, each error is told, and what stands below is left out.
    land(4)
    results, _ = stream(root)
    statuses = {result.unique_id.rpartition(".")[2]: result.status for result in results.results}
    refusing = ("customers", "customers_live", "customers_history")
    assert statuses == {
        **dict.fromkeys(refusing, "error"),
        **dict.fromkeys(("audit", "changes_eu", "changes_us"), "success"),
        "regions": "skipped",
    }
    assert ["known_region" in results[name].message for name in refusing] == [True, True, True]
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()

    # It comes again, and changes nothing where it has been.
    yaml = root / "models/models.yml"
    yaml.write_text(yaml.read_text().replace("'us')", "'us', 'ap')"))
    results, _ = stream(root)
    assert {result.unique_id.rpartition(".")[2]: result.status for result in results.results} == {
        **dict.fromkeys((*refusing, "regions"), "success"),
        **dict.fromkeys(("audit", "changes_eu", "changes_us"), "no-op"),
    }
    assert audit()[3:] == [(3, 1, 0, 13, 13)]
    assert rows("regions", "region, customers", "region") == [("ap", 1), ("eu", 1), ("us", 3)]
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


@pytest.mark.spark
@pytest.mark.nightly
def test_a_checkpoint_that_does_not_belong_to_the_tables_is_refused(example, stream, spark):
    root, schema = example("streaming")
    (root / "landing").mkdir()

    def version(table):
        return spark.sql(f"describe history {schema}.{table} limit 1").collect()[0]["version"]

    def refusal():
        with pytest.raises(ProblemsError) as refused:
            stream(root, ["customers", "audit"])
        return refused.value.problems

    for number in (1, 2):
        shutil.copy(root / f"data/{number}.json", root / "landing")
    assert stream(root, ["customers", "audit"])[0].ok
    versions = {table: version(table) for table in ("customers", "audit")}
    shutil.copy(root / "data/3.json", root / "landing")

    # One that was removed.
    checkpoint = root / "warehouse/.checkpoints/crm.changes"
    checkpoint.rename(root / "kept")
    problems = refusal()
    assert [(problem.message, problem.hint) for problem in problems] == [
        (
            f"stream crm.changes: the checkpoint {checkpoint} is new, and {table} has committed batch 1: it would "
            "silently skip new rows up to that batch",
            "bring back the checkpoint that made it, or start over: set another `checkpoint` and a higher `generation` "
            "in the stream's YAML",
        )
        for table in (f"{schema}.audit", f"{schema}.customers")
    ]
    assert {table: version(table) for table in versions} == versions

    # What it says to do: bring it back.
    (root / "kept").rename(checkpoint)
    results, _ = stream(root, ["customers", "audit"])
    assert {result.adapter_response["batch_id"] for result in results.results} == {2}

    # One of another stream, as that of the stream before it began again is.
    yaml = root / "models/sources.yml"
    before = yaml.read_text()
    yaml.write_text(before.replace("stream:", "stream:\n          generation: 2"))
    (problem,) = refusal()
    assert problem.message == (
        f"stream crm.changes: the checkpoint {checkpoint} belongs to streaming.crm.changes, and this stream is "
        "streaming.crm.changes.2"
    )

    # To start over is to have another one: all files come again, and a change that is known changes nothing.
    yaml.write_text(before.replace("stream:", "stream:\n          generation: 2\n          checkpoint: again"))
    results, _ = stream(root, ["customers"])
    assert results["customers"].adapter_response["totals"]["batches"] == 3
    assert spark.table(f"{schema}.customers").count() == 5
    assert spark.sql(f"select max(seq) from {schema}.customers").collect()[0][0] == 12


@pytest.mark.spark
@pytest.mark.nightly
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
