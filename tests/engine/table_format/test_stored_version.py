"""The commits of a table that may have changed rows, from its files: logs and metadata as the formats write them."""

import json
from dataclasses import replace

import pytest

from merge_runner.engine.table_format.delta import stored_version as delta
from merge_runner.engine.table_format.iceberg import stored_version as iceberg
from merge_runner.engine.table_format.stored_version import ChangedFiles, StoredVersion

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


DAY = {"metaData": {"schemaString": "a", "partitionColumns": ["day"], "configuration": {}}}
WHOLE = {"metaData": {"schemaString": "a", "partitionColumns": []}}
UNKNOWN = "its log does not have the versions that were read"


def of_day(day, size=10):
    return {"add": {"path": str(day), "partitionValues": {"day": day}, "size": size, "dataChange": True}}


@pytest.mark.parametrize(
    ("commits", "size", "found"),
    [
        ([("CREATE TABLE", DAY), ("WRITE", of_day("1"), of_day("2"))], 99, ({"1", "2"}, 20)),
        (
            [("CREATE TABLE", DAY), ("WRITE", of_day("1")), ("OPTIMIZE", MOVED), ("DELETE", of_day("2"))],
            99,
            ({"1", "2"}, 20),
        ),
        ([("CREATE TABLE", DAY), ("WRITE", of_day(None))], 99, ({None}, 10)),
        ([("CREATE TABLE", DAY), ("WRITE", of_day("1"), ADD)], 99, (set(), 99)),  # a file without its partition
        ([("CREATE TABLE", WHOLE), ("WRITE", ADD)], 99, (set(), 99)),
        ([("CREATE TABLE", WHOLE), ("WRITE", ADD)], None, "its size is not known"),
        ([("CREATE TABLE", WHOLE), ("CREATE OR REPLACE TABLE AS SELECT", ADD, WHOLE)], 99, (set(), 99)),
        (
            [("CREATE TABLE", WHOLE), ("REPLACE TABLE", ADD, DAY)],
            99,
            "its columns or its partitioning have changed",
        ),
        (
            [("CREATE TABLE", WHOLE), ("CHANGE COLUMN", {"metaData": {"schemaString": "b", "partitionColumns": []}})],
            99,
            "its columns or its partitioning have changed",
        ),
        (
            [
                (
                    "CREATE TABLE",
                    {"metaData": {**WHOLE["metaData"], "configuration": {"delta.columnMapping.mode": "name"}}},
                ),
                ("WRITE", ADD),
            ],
            99,
            "its columns have other names in its log",
        ),
    ],
)
def test_what_two_versions_of_a_delta_table_differ_in(tmp_path, commits, size, found):
    folder = log(tmp_path, *commits)
    for path in (folder / "_delta_log").glob("*.json") if size is not None else ():
        path.with_suffix(".crc").write_text(json.dumps({"tableSizeBytes": size}))
    versions = list(delta.stored_versions(folder))
    changed = delta.changed_files(folder, versions[-1].identity, versions[0].identity)
    if isinstance(found, str):
        assert changed == found
    else:
        days, read = found
        partitions = frozenset((("day", day),) for day in days)
        assert replace(changed, files=None) == ChangedFiles(0, versions[0].version, partitions, read)
    assert delta.changed_files(folder, versions[0].identity, versions[-1].identity) == UNKNOWN
    assert delta.changed_files(folder, "another", versions[0].identity) == UNKNOWN


def moved(kind, path, size=1, **more):
    return {kind: {"path": path, "partitionValues": {"day": "1"}, "size": size, "dataChange": True, **more}}


FIRST, SECOND = moved("add", "day=1%2500/a%20b"), moved("add", "second")
VECTOR = {"deletionVector": {"storageType": "u"}}
WIDENED = {"metaData": {**DAY["metaData"], "schemaString": '{"metadata": {"delta.typeChanges": []}}'}}


@pytest.mark.parametrize(
    ("meta", "commits", "files"),
    [
        (DAY, [("WRITE", FIRST)], {"day=1%00/a b": 1}),
        (DAY, [("WRITE", FIRST, SECOND), ("DELETE", moved("remove", "second"))], {"day=1%00/a b": 1}),
        (DAY, [("DELETE", moved("remove", "earlier")), ("WRITE", SECOND)], {"earlier": -1, "second": 1}),
        # Compaction took `second` into `third`, and a restore took that back: its rows are what is more.
        (
            DAY,
            [
                ("WRITE", SECOND),
                ("OPTIMIZE", moved("remove", "second", dataChange=False), moved("add", "third", dataChange=False)),
                ("RESTORE", moved("remove", "third"), SECOND),
            ],
            {"second": 2, "third": -1},
        ),
        (DAY, [("DELETE", moved("add", "a", **VECTOR))], None),
        (DAY, [("DELETE", moved("remove", "a", **VECTOR))], None),
        (DAY, [("WRITE", moved("remove", "a", size=None))], None),
        (DAY, [("WRITE", moved("add", "a", partitionValues={}))], None),
        (DAY, [("DELETE", moved("remove", "a", partitionValues={}))], None),
        (DAY, [("DELETE", moved("remove", "a", partitionValues={}, extendedFileMetadata=True))], {"a": -1}),
        (WHOLE, [("WRITE", moved("add", "a", partitionValues={}))], {"a": 1}),
        (
            WHOLE,
            [("WRITE", moved("add", "a", partitionValues={})), ("DELETE", moved("remove", "a", partitionValues={}))],
            {},
        ),
        (WIDENED, [("WRITE", FIRST)], None),
    ],
)
def test_the_files_by_which_two_versions_of_a_delta_table_differ(tmp_path, meta, commits, files):
    folder = log(tmp_path, ("CREATE TABLE", meta), *commits)
    for path in (folder / "_delta_log").glob("*.json"):
        path.with_suffix(".crc").write_text(json.dumps({"tableSizeBytes": 99}))
    versions = list(delta.stored_versions(folder))
    changed = delta.changed_files(folder, versions[-1].identity, versions[0].identity)
    if files is None:
        assert changed.files is None
    else:
        partition = (("day", None if commits[0][1].get("remove", {}).get("extendedFileMetadata") else "1"),)
        named = {() if meta is WHOLE else partition} if files else set()
        assert {file.path: file.more for file in changed.files} == files
        assert {file.partition for file in changed.files} == named


def file(stats=None, **partition):
    found = {"path": "a.parquet", "dataChange": True, "partitionValues": partition}
    return {"add": found if stats is None else {**found, "stats": json.dumps({"numRecords": 2, "nullCount": stats})}}


META = {"metaData": {"schemaString": "{}", "partitionColumns": ["day"]}}
MAPPED = {"metaData": {**META["metaData"], "configuration": {"delta.columnMapping.mode": "name"}}}
NO_NULL = file({"id": 0, "a.b": 0}, day="2024-01-01")


@pytest.mark.parametrize(
    ("meta", "actions", "columns", "shown"),
    [
        (META, [NO_NULL], ["id"], True),
        (META, [NO_NULL, NO_NULL, GONE], ["id", "day", "a.b"], True),
        (META, [NO_NULL, file({"id": 1}, day="2024-01-01")], ["id"], False),
        (META, [file({"id": 0}, day=None)], ["id", "day"], False),
        (META, [file({"id": 0}, day="")], ["day"], False),  # NULL in Delta's protocol
        (META, [file({"id": 0}, day=None)], ["id"], True),
        (META, [file({"id": 0}, day="x")], ["id", "name"], False),  # no statistics of that column
        (META, [file({"id": {"x": 0}}, day="x")], ["id"], False),
        (META, [file(day="x")], ["id"], False),
        (META, [ADD], ["id"], False),
        (META, [GONE], ["id"], False),
        (META, [{"add": {"stats": "no JSON"}}], ["id"], False),
        (MAPPED, [NO_NULL], ["id"], False),
        ({"protocol": {}}, [NO_NULL], ["id"], False),  # its metadata is not known
    ],
)
def test_the_statistics_of_the_files_that_a_commit_added_show_that_columns_have_no_null(
    tmp_path, meta, actions, columns, shown
):
    folder = log(tmp_path, ("CREATE TABLE", meta), ("MERGE", *actions), ("MERGE", file({"id": 7}, day=None)))
    assert delta.added_without_nulls(folder, 1, columns) is shown


def test_a_commit_that_is_not_there_shows_nothing(tmp_path):
    assert not delta.added_without_nulls(log(tmp_path, ("CREATE TABLE", META)), 5, ["id"])
