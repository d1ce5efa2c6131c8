"""States of what is stored on this machine: equal while nothing has changed, and another one as soon as something has."""

import json
import os
import sqlite3
import time

import pytest

from merge_runner import Project
from merge_runner.relation import Relation
from merge_runner.run.reuse.stored_state import States, StoredState, stored_table
from tests.engine.table_format.rest_server import RECORDED, rest_server
from tests.s3_server import KEYS, S3Server


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


def test_a_text_is_kept_and_read_again(make_project):
    prepared = Project.load(make_project(REST)).prepared
    for stored in (StoredState("files", "/a:b/c"), StoredState("folder", '["delta", "/x:y"]'), rest_table(prepared)):
        assert StoredState.of(str(stored), prepared) == stored


REST = {
    "profiles.yml": "shop: {outputs: {dev: {schema: lake.shop, catalogs: {lake: {type: rest, uri: 'URI', "
    "credential: 'id:much-secret', header.X-Key: more-secret}}}}}",
    "models/m.sql": "select 1 as a",
}


def rest_table(prepared, catalog="lake"):
    return stored_table(Relation("order_rows", "other", catalog), "", None, prepared)


def test_a_table_of_a_rest_catalog_is_asked_for_with_the_settings_of_the_profile(make_project):
    with rest_server(answers={"POST /v1/oauth/tokens": {"access_token": "t"}}) as server:
        root = make_project({**REST, "profiles.yml": REST["profiles.yml"].replace("URI", server.uri)})
        prepared = Project.load(root).prepared
        kept = str(rest_table(prepared))
        assert kept == 'rest:["iceberg", "lake", "other", "order_rows"]'
        assert "secret" not in repr(rest_table(prepared))
        assert StoredState.of(kept, prepared).state() is None
        assert StoredState.of(kept, prepared).failure == "the catalog answers with the status 404"
        server.answers |= {"GET /v1/config": {}, "GET /v1/namespaces/other/tables/order_rows": RECORDED}
        # A catalog that has failed is asked again a minute later: this is another one.
        (root / "profiles.yml").write_text((root / "profiles.yml").read_text().replace("more-", "other-"))
        later = Project.load(root).prepared
        stored, states = StoredState.of(kept, later), States()
        assert (stored.is_table, stored.is_remote, stored.rest_catalog) == (True, True, "lake")
        states.look_at([stored])
        assert (
            states.of(stored) == stored.state() == f"{RECORDED['metadata']['table-uuid']}/0/{stored.version().version}"
        )
        assert (stored.failure, rest_table(later, "another")) == (None, None)
        assert StoredState("rest", kept.partition(":")[2]).state() is None


def test_a_state_counts_for_the_whole_run_until_a_node_writes_it(folder):
    stored, states = StoredState("text", str(folder / "a.csv")), States()
    first = states.of(stored)
    (folder / "a.csv").write_text("other")
    assert states.of(stored) == first
    states.written(stored)
    assert states.of(stored) == stored.state() != first


def test_a_table_and_a_view_in_an_object_store_have_states(tmp_path, monkeypatch):
    pytest.importorskip("moto")
    pytest.importorskip("obstore")
    for name, text in KEYS.items():
        monkeypatch.setenv(name, text)
    with S3Server(tmp_path) as server:
        storage = {"endpoint": server.endpoint, "path_style": True, "region": KEYS["AWS_REGION"]}
        table = StoredState("store", json.dumps(["delta", "s3a://lake/shop/t", storage]))
        view = StoredState("object", json.dumps(["s3a://lake/shop/v.view.sql", storage]))

        def put(key, text):
            server.client().put_object(Bucket="lake", Key=f"shop/{key}", Body=text.encode())

        assert (table.state(), view.state(), view.text()) == (None, None, None)
        put("v.view.sql", "select 1")
        put("t/_delta_log/00000000000000000000.json", '{"commitInfo": {"operation": "WRITE", "userMetadata": "ours"}}')
        first = table.state(), view.state()
        assert None not in first
        assert (table.version().version, table.version().stamp, view.text()) == (0, "ours", "select 1")
        put("v.view.sql", "select 2")
        put("t/_delta_log/00000000000000000001.json", '{"commitInfo": {"operation": "WRITE"}}')
        assert (table.version().version, table.version().stamp, view.text()) == (1, None, "select 2")
        assert not {table.state(), view.state()} & set(first)
        assert not table.changed_only_by("ours", None)


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
    ("stamps", "since", "ours"),
    [
        (["a", "a"], None, True),
        (["a", "other", "a"], None, False),
        (["other", "a", "a"], 0, True),
        (["other", "a", "other"], 0, False),
        (["other", "another", "a"], 0, False),  # appended while the statement of `a` ran
        (["other"], 0, True),
    ],
)
def test_only_own_commits_have_changed_a_table(tmp_path, stamps, since, ours):
    folder = tmp_path / "_delta_log"
    folder.mkdir()
    stored, before = StoredState("folder", json.dumps(["delta", str(tmp_path)])), None
    for version, stamp in enumerate(stamps):
        info = {"commitInfo": {"operation": "WRITE", "txnId": str(version), "userMetadata": stamp}}
        (folder / f"{version:020}.json").write_text(json.dumps(info))
        if version == since:
            before = stored.version()
    assert stored.changed_only_by("a", before) is ours
