"""Columns and sizes of tables, from their files: as the formats write them, and as the engine reads them."""

import json
from pathlib import Path

import pytest

from merge_runner.engine.table_format.delta.stored_metadata import stored_metadata as of_delta
from merge_runner.engine.table_format.iceberg.stored_metadata import stored_metadata as of_iceberg
from merge_runner.engine.table_format.stored_metadata import StoredColumn, StoredMetadata

ID = {"name": "id", "type": "long", "nullable": True, "metadata": {"comment": "the key"}}
NAME = {"name": "name", "type": "string", "nullable": True, "metadata": {"__CHAR_VARCHAR_TYPE_STRING": "varchar(9)"}}
COLUMNS = (StoredColumn("id", "bigint", "the key"), StoredColumn("name", "varchar(9)"))
TYPES = {
    "a": "tinyint",
    "b": "smallint",
    "c": "int",
    "d": "bigint",
    "e": "float",
    "f": "double",
    "g": "decimal(12,3)",
    "h": "string",
    "i": "binary",
    "j": "boolean",
    "k": "date",
    "l": "timestamp",
    "m": "timestamp_ntz",
    "n": "array<struct<x:int,y:map<string,bigint>>>",
}


def metadata(*fields, **more):
    return {"schemaString": json.dumps({"type": "struct", "fields": list(fields)}), **more}


def commit(folder: Path, version: int, *actions, checksum=None):
    log = folder / "_delta_log"
    log.mkdir(exist_ok=True)
    (log / f"{version:020}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))
    if checksum is not None:
        (log / f"{version:020}.crc").write_text(json.dumps(checksum))
    return folder


def test_the_checksum_of_the_newest_commit_has_all(tmp_path):
    commit(tmp_path, 0, {"metaData": metadata(ID)})
    known = {"metadata": metadata(ID, NAME, description="people"), "numFiles": 3, "tableSizeBytes": 9}
    commit(tmp_path, 1, {"add": {}}, checksum=known)
    assert of_delta(tmp_path) == StoredMetadata(COLUMNS, "people", 3, 9)


def test_sizes_of_an_older_commit_are_not_those_of_the_table(tmp_path):
    known = {"metadata": metadata(ID, NAME), "numFiles": 3, "tableSizeBytes": 9}
    commit(tmp_path, 0, {"metaData": metadata(ID, NAME)}, checksum=known)
    commit(tmp_path, 1, {"add": {}})
    assert of_delta(tmp_path) == StoredMetadata(COLUMNS)


def test_without_checksums_the_newest_metadata_counts(tmp_path):
    commit(tmp_path, 0, {"metaData": metadata(ID)})
    commit(tmp_path, 1, {"commitInfo": {}}, {"metaData": metadata(ID, NAME)})
    commit(tmp_path, 2, {"add": {}})
    assert of_delta(tmp_path) == StoredMetadata(COLUMNS)


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"metaData": {}}', '{"metaData": {"schemaString": "[]"}}'])
def test_what_is_no_log_says_nothing(tmp_path, text):
    assert of_delta(tmp_path) is None
    commit(tmp_path, 0)
    (tmp_path / f"_delta_log/{0:020}.json").write_text(text)
    assert of_delta(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schemas": [], "current-schema-id": 0}'])
def test_what_is_no_metadata_of_iceberg_says_nothing(tmp_path, text):
    assert of_iceberg(tmp_path / "none.json") is None
    (tmp_path / "m.json").write_text(text)
    assert of_iceberg(tmp_path / "m.json") is None


@pytest.mark.spark
def test_it_is_what_the_engine_reads(spark, tmp_path):
    columns = ", ".join(f"{name} {kind} comment '{name}!'" for name, kind in TYPES.items())
    spark.sql(f"create table delta.`{tmp_path}/t` ({columns}) using delta")
    spark.sql(f"insert into delta.`{tmp_path}/t` (c) values (1), (2)")
    found = of_delta(tmp_path / "t")
    assert {each.name: (each.data_type, each.comment) for each in found.columns} == {
        name: (kind, f"{name}!") for name, kind in TYPES.items()
    }
    detail = spark.sql(f"describe detail delta.`{tmp_path}/t`").first()
    assert (found.files, found.bytes) == (detail.numFiles, detail.sizeInBytes)

    spark.sql("create schema if not exists ice.stored_metadata")
    iceberg = {name: "int" if kind in ("tinyint", "smallint") else kind for name, kind in TYPES.items()}
    columns = ", ".join(f"{name} {kind} comment '{name}!'" for name, kind in iceberg.items())
    spark.sql(f"create table ice.stored_metadata.t ({columns}) using iceberg")
    spark.sql("insert into ice.stored_metadata.t (c) values (1), (2)")
    newest = (
        spark.sql("select file from ice.stored_metadata.t.metadata_log_entries order by timestamp desc").first().file
    )
    found = of_iceberg(Path(newest.removeprefix("file:")))
    assert {each.name: (each.data_type, each.comment) for each in found.columns} == {
        name: (kind, f"{name}!") for name, kind in iceberg.items()
    }
    files = spark.sql("select count(*) as n, sum(file_size_in_bytes) as size from ice.stored_metadata.t.files").first()
    assert (found.files, found.bytes, found.rows) == (files.n, files.size, 2)
    spark.sql("drop table ice.stored_metadata.t")
    spark.sql("drop schema ice.stored_metadata")
