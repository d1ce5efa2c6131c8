"""The commits of a table that may have changed rows, from its files: logs and metadata as the formats write them."""

import json
from pathlib import Path

import pytest

from merge_runner.engine.table_format.delta import stored_version as delta
from merge_runner.engine.table_format.iceberg import stored_version as iceberg
from merge_runner.engine.table_format.stored_version import StoredVersion
from merge_runner.relation import Relation

ADD = {"add": {"path": "a.parquet", "dataChange": True}}
MOVED = {"add": {"path": "b.parquet", "dataChange": False}}
NONE = {"numTargetRowsInserted": "0", "numTargetRowsUpdated": "0", "numTargetRowsDeleted": "0"}
GONE = {"remove": {"path": "a.parquet", "dataChange": False}}


def newest(table_format, path):
    return next(table_format.stored_versions(path), None)


def log(tmp_path, *commits):
    folder = tmp_path / "_delta_log"
    folder.mkdir()
    for version, (operation, *actions) in enumerate(commits):
        metrics = next((each for each in actions if "numTargetRowsInserted" in each), {})
        own = {"operation": operation, "txnId": f"{version}", "userMetadata": f"stamp {version}"}
        info = {"commitInfo": {**own, "operationMetrics": metrics}}
        lines = [info, *(each for each in actions if each is not metrics)]
        (folder / f"{version:020}.json").write_text("\n".join(map(json.dumps, lines)) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("commits", "version"),
    [
        ([("CREATE TABLE", {"metaData": {}})], 0),
        ([("CREATE TABLE",), ("MERGE", ADD)], 1),
        ([("CREATE TABLE",), ("MERGE", ADD), ("OPTIMIZE", MOVED, GONE)], 1),
        ([("CREATE TABLE",), ("MERGE", ADD), ("VACUUM START",), ("VACUUM END",)], 1),
        ([("CREATE TABLE",), ("MERGE", ADD), ("OPTIMIZE", ADD)], 2),
        ([("CREATE TABLE",), ("MERGE", ADD), ("OPTIMIZE", {"metaData": {}})], 2),
        ([("CREATE TABLE",), ("MERGE", ADD), ("SET TBLPROPERTIES", {"metaData": {}})], 2),
        ([("CREATE TABLE",), ("MERGE", ADD), ("RESTORE", ADD)], 2),
        ([("CREATE TABLE",), ("MERGE", ADD), ("MERGE", ADD, NONE)], 1),  # rows were copied
        ([("CREATE TABLE",), ("MERGE", ADD), ("MERGE", ADD, {**NONE, "numTargetRowsUpdated": "1"})], 2),
        ([("CREATE TABLE",), ("MERGE", ADD), ("MERGE", ADD, {"numTargetRowsInserted": "0"})], 2),
        ([("CREATE TABLE",), ("MERGE", ADD), ("MERGE", {"metaData": {}}, NONE)], 2),
    ],
)
def test_delta(tmp_path, commits, version):
    found = newest(delta, log(tmp_path, *commits))
    assert (found.version, found.stamp) == (version, f"stamp {version}")


def test_the_identity_of_a_commit_is_its_text(tmp_path):
    folder = log(tmp_path, ("CREATE TABLE",))
    first = newest(delta, folder)
    assert first == newest(delta, folder)
    path = folder / "_delta_log" / f"{0:020}.json"
    path.write_text(path.read_text().replace('"txnId": "0"', '"txnId": "another"'))
    assert newest(delta, folder).identity != first.identity


def test_a_log_that_is_not_whole_says_nothing(tmp_path):
    assert newest(delta, tmp_path) is None
    folder = log(tmp_path, ("MERGE", ADD), ("OPTIMIZE", MOVED))
    (folder / "_delta_log" / f"{0:020}.json").unlink()  # cleaned up after a checkpoint
    assert newest(delta, folder) is None
    (folder / "_delta_log" / f"{1:020}.json").write_text("no JSON")
    assert newest(delta, folder) is None


def metadata(tmp_path, current, snapshots, **more):
    table = {"table-uuid": "u", "current-schema-id": 0, "current-snapshot-id": current, "snapshots": snapshots, **more}
    path = tmp_path / "00001.metadata.json"
    path.write_text(json.dumps(table))
    return path


def snapshot(number, operation, parent=None):
    found = {"snapshot-id": number, "summary": {"operation": operation, "merge-runner": f"stamp {number}"}}
    return found if parent is None else {**found, "parent-snapshot-id": parent}


@pytest.mark.parametrize(
    ("current", "snapshots", "found"),
    [
        (None, [], StoredVersion(-1, "u/0/-1", None)),
        (-1, [], StoredVersion(-1, "u/0/-1", None)),
        (7, [snapshot(7, "append")], StoredVersion(7, "u/0/7", "stamp 7")),
        (8, [snapshot(7, "append"), snapshot(8, "overwrite", 7)], StoredVersion(8, "u/0/8", "stamp 8")),
        (8, [snapshot(7, "append"), snapshot(8, "replace", 7)], StoredVersion(7, "u/0/7", "stamp 7")),
        (7, [snapshot(7, "append"), snapshot(8, "append", 7)], StoredVersion(7, "u/0/7", "stamp 7")),  # rolled back
        (8, [snapshot(8, "replace", 7)], None),  # expired
        (9, [], None),
    ],
)
def test_iceberg(tmp_path, current, snapshots, found):
    assert newest(iceberg, metadata(tmp_path, current, snapshots)) == found


def test_another_schema_is_another_version_and_no_metadata_is_none(tmp_path):
    path = metadata(tmp_path, 7, [snapshot(7, "append")])
    first = newest(iceberg, path)
    path = metadata(tmp_path, 7, [snapshot(7, "append")], **{"current-schema-id": 1})
    assert newest(iceberg, path).identity != first.identity
    assert newest(iceberg, tmp_path / "none.metadata.json") is None
    path.write_bytes(b"\x1f\x8b compressed")
    assert newest(iceberg, path) is None


def test_all_of_them_are_there_newest_first(tmp_path):
    found = delta.stored_versions(log(tmp_path, ("CREATE TABLE",), ("MERGE", ADD), ("OPTIMIZE", MOVED), ("WRITE", ADD)))
    assert [version.version for version in found] == [3, 1, 0]
    path = metadata(tmp_path, 9, [snapshot(7, "append"), snapshot(8, "replace", 7), snapshot(9, "overwrite", 8)])
    assert [version.version for version in iceberg.stored_versions(path)] == [9, 7, -1]


@pytest.mark.parametrize(
    ("operation", "rows"),
    [
        ("MERGE", "changed"),
        ("WRITE", "changed"),
        ("DELETE", "changed"),
        ("CREATE TABLE", "emptied"),
        ("CREATE OR REPLACE TABLE", "emptied"),
        ("CREATE OR REPLACE TABLE AS SELECT", "replaced"),
        ("REPLACE TABLE AS SELECT", "replaced"),
        ("RESTORE", "replaced"),
        ("CLONE", "replaced"),
        ("ADD COLUMNS", "kept"),
        ("SET TBLPROPERTIES", "kept"),
    ],
)
def test_what_an_operation_of_delta_does_to_rows(tmp_path, operation, rows):
    assert newest(delta, log(tmp_path, (operation, ADD))).rows == rows


@pytest.mark.parametrize(
    ("summary", "rows"),
    [
        ({"added-data-files": "1", "total-records": "3"}, "changed"),
        ({"added-delete-files": "1", "total-records": "3"}, "changed"),
        ({"deleted-data-files": "1", "total-records": "0"}, "emptied"),
        ({"total-records": "3"}, "kept"),
    ],
)
def test_what_a_snapshot_of_iceberg_does_to_rows(tmp_path, summary, rows):
    one = {"snapshot-id": 7, "summary": {"operation": "overwrite", **summary}}
    assert newest(iceberg, metadata(tmp_path, 7, [one])).rows == rows


@pytest.mark.spark
def test_spark_says_what_the_files_say(spark, tmp_path):
    table = Relation(str(tmp_path / "t"), "delta")
    spark.sql(f"create table {table} (id bigint) using delta")
    for id in range(2):
        spark.sql(f"insert into {table} values ({id})")
    spark.sql(f"optimize {table}")
    found = list(delta.versions(spark, table))
    assert [each.version for each in found] == [2, 1, 0]
    assert [each.version for each in delta.stored_versions(tmp_path / "t")] == [2, 1, 0]
    assert len({each.identity for each in found}) == 3
    assert list(delta.versions(spark, Relation(str(tmp_path / "none"), "delta"))) == []

    spark.sql("create schema if not exists ice.stored_version")
    table = Relation("t", "stored_version", "ice")
    spark.sql(f"create table {table} (id bigint) using iceberg")
    for id in range(2):
        spark.sql(f"insert into {table} values ({id})")
    spark.sql("call ice.system.rewrite_data_files(table => 'stored_version.t', options => map('rewrite-all', 'true'))")
    file = spark.sql(f"select file from {table}.metadata_log_entries order by timestamp desc").first().file
    found = list(iceberg.versions(spark, table))
    assert len(found) == 3
    assert found == list(iceberg.stored_versions(Path(file.removeprefix("file:"))))
    # Not every table is what its metadata says: here it is one of metadata, elsewhere its server plans the scans.
    assert list(iceberg.versions(spark, Relation("snapshots", f"{table.schema}.t", "ice"))) == []
    assert iceberg.metadata_text(spark, Relation("snapshots", sql=f"{table}.snapshots")) is None
    assert list(iceberg.versions(spark, Relation("none", "stored_version", "ice"))) == []
    spark.sql(f"drop table {table}")
    spark.sql("drop schema ice.stored_version")
