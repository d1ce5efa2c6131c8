"""The embedded Iceberg catalog: its settings, and its database, which many processes may make at once."""

import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from merge_runner.engine.spark.confs import jar_groups, spark_confs
from merge_runner.engine.spark.embedded_catalog import database, prepare_catalogs
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile

ROOT = Path("/projects/shop")


def profile(**keys):
    return Profile("shop", "dev", "shop", warehouse="house", **{"catalogs": {"ice": {"type": "embedded"}}, **keys})


def test_it_is_iceberg_s_jdbc_catalog_on_a_file_of_the_warehouse():
    found = spark_confs(profile(), ROOT, [])
    prefix = "spark.sql.catalog.ice"
    assert {key: value for key, value in found.items() if key.startswith(prefix)} == {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "jdbc",
        f"{prefix}.uri": "jdbc:sqlite:/projects/shop/house/ice.db?journal_mode=WAL&busy_timeout=60000",
        f"{prefix}.warehouse": "/projects/shop/house/ice",
        f"{prefix}.jdbc.schema-version": "V1",
        f"{prefix}.cache-enabled": "false",
    }


def test_what_the_profile_says_beside_its_type_wins():
    found = spark_confs(profile(catalogs={"ice": {"type": "embedded", "cache-enabled": "true"}}), ROOT, [])
    assert found["spark.sql.catalog.ice.cache-enabled"] == "true"


def test_only_an_embedded_catalog_needs_the_jar_of_sqlite():
    assert jar_groups(profile()) == ("delta", "iceberg", "sqlite", "local-files")
    rest = {"ice": {"type": "rest", "uri": "http://host"}}
    assert jar_groups(profile(catalogs=rest)) == ("delta", "iceberg", "local-files")
    assert jar_groups(profile(catalogs={})) == ("delta", "local-files")


def prepare_when_told(root, gate, results):
    gate.wait()
    try:
        prepare_catalogs(profile(), root)
    except ProblemsError as error:
        results.put(str(error))
    else:
        results.put(None)


def test_processes_that_make_it_at_once_find_one_whole_database(tmp_path):
    context = multiprocessing.get_context("fork")
    gate, results = context.Barrier(6), context.Queue()
    processes = [context.Process(target=prepare_when_told, args=(tmp_path, gate, results)) for _ in range(6)]
    for process in processes:
        process.start()
    assert [results.get(timeout=60) for _ in processes] == [None] * 6
    for process in processes:
        process.join()
    with closing(sqlite3.connect(database(profile(), tmp_path, "ice"))) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables == {"iceberg_tables", "iceberg_namespace_properties"}
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_no_database_is_told_with_its_place(tmp_path):
    file = database(profile(), tmp_path, "ice")
    file.parent.mkdir()
    file.write_text("some text that is longer than the head of a database, and no database at all")
    with pytest.raises(ProblemsError, match=r'the catalog "ice" cannot be kept in .*ice\.db: file is not a database'):
        prepare_catalogs(profile(), tmp_path)
