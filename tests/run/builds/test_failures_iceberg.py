"""Conflicts and batches on Iceberg: what another writer does meanwhile, and what a snapshot's summary says."""

import itertools

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

NUMBERS = itertools.count()
MODEL = """
{{ config(format='iceberg', bounds='off', retries=RETRIES) }}
merge into {{ this }} as t
using (select gate(id) as id, 1L as times from range(3, 8, 1, 1)) as s
   on t.id = s.id
when matched then update set t.times = t.times + s.times
when not matched then insert (id, times) values (s.id, s.times)
"""
MERGED = {0: 1, 1: 1, 2: 1, 3: 2, 4: 2, 5: 1, 6: 1, 7: 1}


def profile(schema):
    return f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: {schema}}}}}}}\n"


@pytest.fixture
def raced(make_project, race, spark):
    """Builds the model while another statement is committed; gives its result, its table and what it was retried for."""

    def run(properties, statement, retries=3):
        schema = f"ice.raced{next(NUMBERS)}"
        files = {"profiles.yml": profile(schema), "models/fct.sql": MODEL.replace("RETRIES", str(retries))}
        project = Project.load(make_project(files))
        spark.sql(f"create schema {schema}")
        spark.sql(f"create table {schema}.fct (id bigint, times bigint) using iceberg {properties}")
        spark.sql(f"insert into {schema}.fct select id, 1L from range(0, 5, 1, 1)")
        events = []
        result = race.meanwhile(
            lambda: spark.sql(statement.format(t=f"{schema}.fct")),
            lambda: project.build(driver=race, lint=False, on_event=events.append),
        )["fct"]
        retried = [(event.data["code"], event.data["kind"]) for event in events if event.event == "node_retried"]
        return result, f"{schema}.fct", retried

    return run


def counted(spark, table):
    return {row["id"]: row["times"] for row in spark.table(table).collect()}


MARKING = "tblproperties ('write.merge.mode' = 'merge-on-read')"
COMPACTION = "call ice.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))"


@pytest.mark.parametrize(
    ("properties", "statement", "change"),
    [
        ("", "insert into {t} values (5, 10), (50, 10)", {5: 11, 50: 10}),
        (MARKING, "delete from {t} where id = 3", {3: 1}),
        # The rows are the same, in other files: neither may bring back the old ones, nor mark rows in files that are gone.
        ("", COMPACTION, {}),
        (MARKING, COMPACTION, {}),
    ],
)
def test_a_merge_runs_again_after_another_writer(raced, spark, properties, statement, change):
    result, table, retried = raced(properties, statement)
    assert result.status == "success", result.message
    assert (retried, result.adapter_response["attempts"]) == ([("ValidationException", "conflict")], 2)
    assert counted(spark, table) == MERGED | change
    merges = spark.sql(f"select * from {table}.snapshots where operation in ('overwrite', 'delete')").collect()
    assert len(merges) == 1 + statement.startswith("delete")


def test_a_merge_without_retries_says_what_was_in_the_way(raced, spark):
    result, table, retried = raced("", COMPACTION, retries=0)
    assert (result.status, retried, result.adapter_response["attempts"]) == ("error", [], 1)
    assert "Missing required files to delete" in result.message
    assert counted(spark, table) == dict.fromkeys(range(5), 1)


def test_a_batch_is_merged_once_on_iceberg(make_project, driver, spark):
    root = make_project(
        {
            "profiles.yml": profile("ice.batched"),
            "models/fct.sql": """
                {{ config(format='iceberg', post_hook="insert into ice.batched.fct values (99L, 0L)") }}
                merge into {{ this }} as t using (select id, 1L as times from range({{ var('to') }})) as s on t.id = s.id
                when matched then update set t.times = t.times + s.times
                when not matched then insert (id, times) values (s.id, s.times)
            """,
        }
    )

    def build(batch_id, to):
        results = Project.load(root, vars={"to": to}).build(driver=driver, lint=False, batch_id=batch_id)
        return results["fct"].status, results["fct"].message

    assert build(2, 2)[0] == "success"
    assert build(2, 9) == ("no-op", "batch 2 or a later one is committed already")
    assert build(1, 9)[0] == "no-op"
    assert build(3, 1)[0] == "success"
    rows = sorted((row["id"], row["times"]) for row in spark.table("ice.batched.fct").collect())
    assert rows == [(0, 2), (1, 1), (99, 0), (99, 0), (99, 0), (99, 0)]  # hooks run each time


def test_what_had_committed_before_the_cancellation_is_told(make_project, race, spark):
    files = {
        "profiles.yml": profile("ice.stopped"),
        "models/fct.sql": """
            {{ config(format='iceberg', post_hook="select gate(1L)") }}
            merge into {{ this }} as t using (select 1L as id) as s on t.id = s.id when not matched then insert *
        """,
    }
    project, groups = Project.load(make_project(files)), []
    listen = lambda event: groups.append(event.data["group"]) if event.event == "node_started" else None  # noqa: E731
    result = race.meanwhile(
        lambda: race.cancel(groups[0]), lambda: project.build(driver=race, lint=False, on_event=listen)
    )["fct"]
    snapshot = spark.sql("select snapshot_id from ice.stopped.fct.snapshots").collect()[0][0]
    assert result.message == f"cancelled; its statement had committed as version {snapshot} [cancelled]"
