"""States of what is stored: equal while nothing has changed, and another one as soon as something has."""

import json
import os
import sqlite3
import time

import pytest

from merge_runner import Project
from merge_runner.engine.table_format.commit_metadata import stamp
from merge_runner.location import Uri
from merge_runner.relation import Relation
from merge_runner.run.reuse.stored_state import States, StoredState, stored_table, stored_view


def dated(path, seconds):
    os.utime(path, (seconds, seconds))


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(["a.csv", "b.csv", "sub/c.csv"]):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        dated(path, 1_700_000_000 + number)
    return tmp_path / "in"


CHANGES = {
    "a row": lambda folder: (folder / "a.csv").write_text("a.cs2"),
    "a time": lambda folder: dated(folder / "a.csv", 1_600_000_000),
    "a new file": lambda folder: (folder / "sub/d.csv").write_text(""),
    "a lost file": lambda folder: (folder / "b.csv").unlink(),
    "a name": lambda folder: (folder / "b.csv").rename(folder / "e.csv"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_files_are_known_by_names_sizes_and_times(folder, change):
    stored = StoredState("files", str(folder))
    first = stored.state()
    assert first is not None
    assert stored.state() == first
    CHANGES[change](folder)
    for path in folder.rglob("*.csv"):
        if time.time() - path.stat().st_mtime < 60:
            dated(path, 1_700_000_100)
    assert stored.state() not in (None, first)


@pytest.mark.parametrize("change", CHANGES)
def test_files_are_known_by_their_content_where_that_is_asked(folder, change):
    stored = StoredState("contents", str(folder))
    first = stored.state()
    assert first is not None
    CHANGES[change](folder)
    assert (stored.state() == first) == (change == "a time")


def test_a_pattern_names_some_of_them(folder):
    stored = StoredState("files", str(folder / "*.csv"))
    first = stored.state()
    (folder / "sub/c.csv").unlink()
    assert stored.state() == first
    (folder / "a.csv").unlink()
    assert stored.state() != first


def test_a_file_that_was_written_just_now_has_no_state(folder):
    (folder / "a.csv").touch()
    assert StoredState("files", str(folder)).state() is None


def test_what_is_not_there_has_no_state(tmp_path):
    none = str(tmp_path / "none")
    for stored in (
        StoredState("files", none),
        StoredState("text", none),
        StoredState("folder", json.dumps(["delta", none])),
    ):
        assert stored.state() is None


def test_an_iceberg_table_is_asked_for_in_its_catalog(tmp_path):
    file = tmp_path / "ice.db"
    path = json.dumps(["iceberg", str(file), "ice", "shop", "t"])
    assert StoredState("catalog", path).state() is None
    with sqlite3.connect(file) as connection:
        connection.execute(
            "create table iceberg_tables (catalog_name text, table_namespace text, table_name text, metadata_location text)"
        )
        metadata = tmp_path / "with space.metadata.json"
        metadata.write_text('{"table-uuid": "u", "current-schema-id": 2, "snapshots": []}')
        connection.execute(
            "insert into iceberg_tables values ('ice', 'shop', 't', ?)",
            (f"file:{tmp_path}/with%20space.metadata.json",),
        )
    connection.close()
    assert StoredState("catalog", path).state() == "u/2/-1"


def test_a_text_is_kept_and_read_again():
    for stored in (StoredState("files", "/a:b/c"), StoredState("folder", '["delta", "/x:y"]')):
        assert StoredState.of(str(stored)) == stored


ELSEWHERE = {
    "profiles.yml": "shop: {outputs: {dev: {OUTPUT, schema: shop, catalogs: "
    "{lake: {type: rest, uri: 'http://h', credential: 'id:secret'}, unity: {class: io.unitycatalog.spark.UCSingleCatalog}}}}}",
    "models/m.sql": "select 1 as a",
}
S3 = Uri("s3a://lake/t")


@pytest.mark.parametrize(
    ("relation", "format", "location", "kept"),
    [
        (Relation("t", "other", "lake"), "", None, 'spark:["iceberg", "t", "other", "lake"]'),
        (Relation("t", "other"), "delta", None, 'spark:["delta", "t", "other", null]'),
        (Relation("t", "other"), "delta", S3, 'spark:["delta", "s3a://lake/t", "delta"]'),
        (Relation("t", "other"), "", None, None),  # another format may have a log that Delta left behind
        (Relation("t", "other"), "parquet", None, None),
        (Relation("t", "other", "unity"), "delta", None, None),
        (Relation("t", "other", "unknown"), "delta", None, None),
    ],
)
def test_spark_is_asked_for_tables_that_are_elsewhere(make_project, relation, format, location, kept):
    found = []
    for output in ("master: 'local[2]'", "remote: 'sc://h'"):
        root = make_project({**ELSEWHERE, "profiles.yml": ELSEWHERE["profiles.yml"].replace("OUTPUT", output)})
        found.append(stored_table(relation, format, location, Project.load(root).prepared))
    assert found[1] is None
    assert (str(found[0]) if found[0] is not None else None) == kept
    if kept is not None:
        assert (found[0].needs_spark, found[0].is_table, found[0].state(), States().of(found[0])) == (
            True,
            True,
            None,
            None,
        )


def test_a_state_counts_for_the_whole_run_until_a_node_writes_it(folder):
    stored, states = StoredState("text", str(folder / "a.csv")), States()
    first = states.of(stored)
    (folder / "a.csv").write_text("other")
    assert states.of(stored) == first
    states.forget(stored)
    assert states.of(stored) == stored.state() != first


@pytest.mark.spark
def test_spark_reads_tables_and_views_of_an_object_store(spark, tmp_path):
    """The file system is a local one that Spark knows by its URI."""
    table = StoredState("spark", json.dumps(["delta", f"file://{tmp_path}/t", "delta"]))
    view = stored_view(Uri(f"file://{tmp_path}/v.view.sql"))
    assert (table.state(spark), view.state(spark), view.text(spark)) == (None, None, None)
    (tmp_path / "v.view.sql").write_text("select 'ü'")
    spark.sql(f"create table delta.`{tmp_path}/t` (id bigint) using delta")
    first = table.state(spark), view.state(spark)
    assert None not in first
    before = table.version(spark)
    assert (before.version, view.text(spark), view.state()) == (0, "select 'ü'", None)
    spark.sql(f"insert into delta.`{tmp_path}/t` values (2)")
    (tmp_path / "v.view.sql").write_text("select 2")
    assert not {table.state(spark), view.state(spark)} & set(first)
    assert not table.changed_only_by("ours", before, spark)
    assert table.changed_only_by("ours", table.version(spark), spark)


def test_linked_folders_are_followed(tmp_path):
    kept, read = tmp_path / "kept", tmp_path / "in"
    kept.mkdir()
    read.mkdir()
    (kept / "a.csv").write_text("1")
    (read / "day=1").symlink_to(kept)
    dated(kept / "a.csv", 1_700_000_000)
    stored = StoredState("files", str(read))
    first = stored.state()
    assert first is not None
    (kept / "a.csv").write_text("12")
    dated(kept / "a.csv", 1_700_000_000)
    assert stored.state() not in (None, first)
    (kept / "round").symlink_to(read)
    assert stored.state() is None


@pytest.mark.parametrize(
    "pattern", ["[^a]*.csv", "[!b]*.csv", "?.csv", "{b,c}.csv", "b\\.csv", "*", "sub*/*.csv", "s[tu]b/c.csv"]
)
def test_wildcards_of_hadoop_name_at_least_what_it_reads(folder, pattern):
    """Its sets, alternatives and escapes are not those of Python: files that are not read may count, but none is missing."""
    read = folder / ("sub/c.csv" if pattern.startswith("s") else "b.csv")
    stored = StoredState("contents", str(folder / pattern))
    first = stored.state()
    assert first is not None
    read.write_text("another")
    assert stored.state() not in (None, first)


@pytest.mark.parametrize(
    ("writers", "since", "ours"),
    [
        (["a", "a"], None, True),
        (["a", "other", "a"], None, False),
        (["other", "a", "a"], 0, True),
        (["other", "a", "other"], 0, False),
        (["other", "another", "a"], 0, False),  # appended while the statement of `a` ran
        (["other"], 0, True),
    ],
)
def test_only_own_commits_have_changed_a_table(tmp_path, writers, since, ours):
    folder = tmp_path / "_delta_log"
    folder.mkdir()
    stored, before = StoredState("folder", json.dumps(["delta", str(tmp_path)])), None
    for version, writer in enumerate(writers):
        info = {
            "commitInfo": {
                "operation": "WRITE",
                "txnId": str(version),
                "userMetadata": stamp(f"run {writer}", "model.shop.m"),
            }
        }
        (folder / f"{version:020}.json").write_text(json.dumps(info))
        if version == since:
            before = stored.version()
    assert stored.changed_only_by(stamp("run a", "model.shop.m"), before) is ours
