"""`optimize` on real tables: files are put together, rows stay, and what is still needed is never removed."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MERGE = """
{{ config(CONFIG) }}
merge into {{ this }} as t
using (select id, cast(id % 2 as int) as p, 'v' as v from range(10)) as s on t.id = s.id
when matched then update set *
when not matched then insert *
"""


@pytest.fixture
def table(make_project, spark):
    """A project of one merge model `fct` with this config, and its table of `files` files with ten rows each."""

    def make(config="", table_format="delta", clauses="", files=6, **more):
        root = make_project({"models/fct.sql": MERGE.replace("CONFIG", config), **more}, table_format)
        project = Project.load(root)
        relation = project.graph.nodes["model.shop.fct"].relation
        where = f"location '{root}/warehouse/{relation.schema}/fct'" if table_format == "delta" else ""
        spark.sql(f"create schema if not exists {relation.catalog or 'spark_catalog'}.{relation.schema}")
        spark.sql(f"create table {relation} (id bigint, p int, v string) using {table_format} {clauses} {where}")
        rows = f"select id, cast(id div 10 % 2 as int), 'old' from range(0, {files * 10}, 1, {files})"
        spark.sql(f"insert into {relation} {rows}")
        return project, relation

    return make


def files(spark, relation):
    return {row[0] for row in spark.sql(f"select distinct input_file_name() from {relation}").collect()}


def begin_to_read(spark, relation):
    """Reads the first row; what is given reads the others, and gives the files of all of them."""
    rows = spark.sql(f"select input_file_name() from {relation}").toLocalIterator()
    first = next(rows)
    return lambda: [first[0], *(row[0] for row in rows)]


def operations(spark, relation):
    return [row["operation"] for row in spark.sql(f"describe history {relation}").collect()]


def test_small_files_become_one_and_readers_stay_undisturbed(table, driver, spark):
    project, relation = table()
    before = files(spark, relation)
    reader = begin_to_read(spark, relation)
    results = project.optimize(driver=driver)
    response = results["fct"].adapter_response
    assert (results["fct"].status, results["fct"].message) == ("success", "6 files into 1")
    assert [response[key] for key in ("operation", "files_removed", "files_added", "attempts")] == ["OPTIMIZE", 6, 1, 1]
    assert response["bytes_removed"] > response["bytes_added"] > 0
    assert response["table_version"] == 2
    assert set(reader()) == before
    assert len(files(spark, relation)) == 1
    assert spark.table(str(relation)).count() == 60

    again = project.optimize(driver=driver)["fct"]
    assert (again.status, again.message, again.adapter_response["table_version"]) == (
        "no-op",
        "nothing to compact",
        None,
    )
    assert operations(spark, relation)[:2] == ["OPTIMIZE", "WRITE"]


@pytest.mark.slow
def test_where_leaves_other_partitions_alone_and_zorder_orders(table, driver, spark):
    config = "partition_by=['p'], optimize={'where': 'p = 0 -- of two', 'zorder_by': ['id']}"
    project, relation = table(config, clauses="partitioned by (p)")
    other = files(spark, f"(select * from {relation} where p = 1)")
    result = project.optimize(driver=driver)["fct"]
    assert (result.status, result.message) == ("success", "3 files into 1")
    assert files(spark, f"(select * from {relation} where p = 1)") == other
    parameters = spark.sql(f"describe history {relation} limit 1").collect()[0]["operationParameters"]
    assert (parameters["zOrderBy"], "(p#" in parameters["predicate"] or "p = 0" in parameters["predicate"]) == (
        '["id"]',
        True,
    )


@pytest.mark.slow
def test_a_clustered_table_is_clustered_where_it_is_not_yet(table, driver, spark):
    project, relation = table("cluster_by=['id']", clauses="cluster by (id)")
    assert project.optimize(driver=driver)["fct"].status == "success"
    old = files(spark, relation)
    assert project.optimize(driver=driver)["fct"].status == "no-op"
    assert files(spark, relation) == old
    newest = spark.sql(f"describe history {relation} limit 1").collect()[0]
    assert (newest["operation"], newest["operationParameters"]["clusterBy"]) == ("OPTIMIZE", '["id"]')


@pytest.mark.slow
def test_a_table_that_cannot_be_optimized_keeps_no_other_from_it(table, driver, spark):
    more = {
        "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('fct') }}",
        "models/never.sql": "{{ config(materialized='table', optimize=false) }} select 1 as n",
        "models/seen.sql": "{{ config(materialized='view') }} select 1 as n",
    }
    config = "partition_by=['p'], optimize={'where': 'id > 3'}"
    project, _ = table(config, clauses="partitioned by (p)", **more)
    told = []
    results = project.optimize(driver=driver, on_event=told.append)
    assert {each.unique_id.split(".")[2]: each.status for each in results.results} == {"fct": "error", "below": "no-op"}
    assert "id" in results["fct"].message
    assert "write partition columns alone into `where`" in results["fct"].message
    below = project.graph.nodes["model.shop.below"].relation.name
    assert results["below"].message == f"there is no table {below} yet"
    said = [event.data["message"] for event in told if event.event == "message"]
    assert said == ["left out, as their config says `optimize: false`: never"]


@pytest.mark.slow
def test_a_build_optimizes_with_the_nth_merge_and_not_before(table, driver, spark):
    project, relation = table("optimize={'after': 2}", files=1)
    done = []
    for _ in range(4):
        result = project.build(driver=driver, lint=False)["fct"]
        assert (result.status, result.warnings) == ("success", ())
        assert result.adapter_response["operation"] == "MERGE"
        assert result.adapter_response["rows_affected"] == 10
        done.append((result.adapter_response.get("optimized") or {}).get("files_added"))
        spark.sql(f"insert into {relation} values ({100 + len(done)}, 0, 'other')")
    assert done == [None, 1, None, 1]
    assert result.message.endswith("; optimized: 3 files into 1")
    assert result.adapter_response["table_version"] == result.adapter_response["optimized"]["table_version"] - 1
    assert operations(spark, relation)[:3] == ["WRITE", "OPTIMIZE", "MERGE"]


@pytest.mark.slow
def test_a_merge_is_committed_though_its_table_cannot_be_optimized(table, driver, spark):
    project, relation = table("optimize={'after': 1, 'zorder_by': 'nope'}", files=2)
    result = project.build(driver=driver, lint=False, batch_id=3)["fct"]
    assert result.status == "success"
    (warning,) = result.warnings
    assert warning.startswith("the table is merged, and was not optimized: ")
    assert "nope" in warning
    assert operations(spark, relation)[0] == "MERGE"


@pytest.mark.slow
def test_optimize_runs_again_after_another_writer(table, race, spark):
    project, relation = table("partition_by=['p'], optimize={'where': 'gate(p) >= 0'}", clauses="partitioned by (p)")
    retried = []

    def listen(event):
        if event.event == "node_retried":
            retried.append(event.data["kind"])

    def merge():
        spark.sql(f"delete from {relation} where id = 3")

    results = race.meanwhile(merge, lambda: project.optimize(driver=race, on_event=listen))
    assert results["fct"].status == "success", results["fct"].message
    assert (retried, results["fct"].adapter_response["attempts"]) == (["conflict"], 2)
    assert spark.table(str(relation)).count() == 59
    assert len(files(spark, relation)) == 2


@pytest.mark.slow
def test_vacuum_removes_what_the_retention_lets_go(table, driver, spark):
    properties = "tblproperties ('delta.deletedFileRetentionDuration' = 'interval 0 hours')"
    project, relation = table(
        "properties={'delta.deletedFileRetentionDuration': 'interval 0 hours'}", clauses=properties
    )
    result = project.optimize(driver=driver, vacuum=True, retain="1d")["fct"]
    assert (result.status, result.message) == ("success", "6 files into 1; 0 old files deleted")
    result = project.optimize(driver=driver, vacuum=True)["fct"]
    assert (result.status, result.message) == ("success", "nothing to compact; 6 old files deleted")
    assert result.adapter_response["files_deleted"] == 6
    assert spark.table(str(relation)).count() == 60

    # A table that says more than the project does is asked before anything is removed.
    spark.sql(f"alter table {relation} set tblproperties ('delta.deletedFileRetentionDuration' = 'interval 3 days')")
    result = project.optimize(driver=driver, vacuum=True, retain="2d")["fct"]
    assert result.status == "error"
    assert f"{relation.name} keeps what is no longer needed for 3 days, and --retain says 2 days" in result.message


def test_iceberg_files_are_put_together_and_ordered(table, driver, spark):
    project, relation = table("optimize={'zorder_by': ['id', 'v'], 'where': \"v = 'old'\"}", "iceberg")
    before = files(spark, relation)
    reader = begin_to_read(spark, relation)
    result = project.optimize(driver=driver)["fct"]
    assert (result.status, result.message) == ("success", "6 files into 1")
    response = result.adapter_response
    assert [response[key] for key in ("operation", "files_removed", "files_added")] == ["OPTIMIZE", 6, 1]
    assert response["bytes_removed"] > response["bytes_added"] > 0
    newest = spark.sql(f"select snapshot_id from {relation}.refs where name = 'main'").collect()[0][0]
    assert response["table_version"] == newest
    assert set(reader()) == before
    assert spark.table(str(relation)).count() == 60
    again = project.optimize(driver=driver)["fct"]
    assert (again.status, again.message) == ("no-op", "nothing to compact")


@pytest.mark.slow
def test_an_expired_snapshot_takes_no_batch_with_it(table, driver, spark):
    properties = {"write.merge.mode": "merge-on-read", "history.expire.max-snapshot-age-ms": "1"}
    clauses = f"tblproperties ({', '.join(f'{key!r} = {value!r}' for key, value in properties.items())})"
    project, relation = table(f"properties={properties}", "iceberg", clauses)
    assert project.build(driver=driver, lint=False, batch_id=7)["fct"].status == "success"
    assert project.build(driver=driver, lint=False)["fct"].status == "success"
    result = project.optimize(driver=driver, vacuum=True)["fct"]
    assert (result.status, result.warnings) == ("success", ())
    assert result.adapter_response["files_deleted"] > 0
    assert spark.sql(f"select * from {relation}.snapshots").count() == 1
    assert spark.table(str(relation)).count() == 60
    again = project.build(driver=driver, lint=False, batch_id=7)["fct"]
    assert (again.status, again.message) == ("no-op", "batch 7 or a later one is committed already")
    assert project.build(driver=driver, lint=False, batch_id=8)["fct"].status == "success"


def test_iceberg_counts_its_merges_too(table, driver, spark):
    project, relation = table("optimize={'after': 2}", "iceberg")
    done = [project.build(driver=driver, lint=False)["fct"].adapter_response.get("optimized") for _ in range(3)]
    assert [each and each["files_removed"] for each in done] == [None, 6, None]
    assert spark.table(str(relation)).count() == 60
