"""Tables whose commits a catalog decides: their files say nothing, as they may not have the newest commits."""

import json

import pytest

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.delta.catalog_managed import is_catalog_managed, published
from merge_runner.engine.table_format.delta.first_run import is_built_in
from merge_runner.engine.table_format.delta.stored_metadata import stored_metadata
from merge_runner.engine.table_format.delta.stored_version import stored_versions
from merge_runner.relation import Relation

SCHEMA = json.dumps({"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]})
MANAGED = {
    "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
    "writerFeatures": ["catalogManaged", "inCommitTimestamp"],
}
PREVIEW = {"readerFeatures": ["catalogOwned-preview"], "writerFeatures": ["catalogOwned-preview"]}
PLAIN = {"writerFeatures": ["appendOnly", "invariants"]}


def table(folder, features, staged=False):
    """A table of three commits as Delta 4.4.0 writes them; with `staged`, the last one is not published."""
    log = folder / "_delta_log"
    log.mkdir()
    created = [
        {"commitInfo": {"operation": "CREATE TABLE"}},
        {"metaData": {"schemaString": SCHEMA, "partitionColumns": [], "configuration": {}}},
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}},
    ]
    merged = [{"commitInfo": {"operation": "MERGE"}}, {"add": {"path": "a.parquet", "dataChange": True}}]
    names = [f"{version:020}.json" for version in range(3)]
    if staged:
        (log / "_staged_commits").mkdir()
        names[2] = "_staged_commits/00000000000000000002.1c8e9f3a-0000-4000-8000-000000000000.json"
    for name, actions in zip(names, (created, merged, merged), strict=True):
        (log / name).write_text("\n".join(map(json.dumps, actions)) + "\n")
    return folder


@pytest.mark.parametrize(
    ("features", "staged"),
    [(MANAGED, True), (MANAGED, False), (PREVIEW, False)],
    ids=["staged", "published", "preview"],
)
def test_the_files_of_a_managed_table_say_nothing(tmp_path, features, staged):
    folder = table(tmp_path, features, staged)
    assert is_catalog_managed(folder / "_delta_log")
    assert is_built_in(folder, ()) is None
    assert stored_metadata(folder) is None
    assert list(stored_versions(folder)) == []


def test_the_checksum_of_the_newest_commit_says_it_where_the_first_one_was_cleaned_up(tmp_path):
    folder = table(tmp_path, MANAGED)
    (folder / "_delta_log" / f"{0:020}.json").unlink()
    (folder / "_delta_log" / f"{2:020}.crc").write_text(json.dumps({"protocol": MANAGED, "numFiles": 1}))
    assert is_catalog_managed(folder / "_delta_log")


def test_another_table_is_read_by_its_files(tmp_path):
    folder = table(tmp_path, PLAIN)
    (folder / "_delta_log/_staged_commits").mkdir()  # Delta 4.4.0 makes it for tables that stage nothing
    assert is_built_in(folder, ()) is True
    assert [column.name for column in stored_metadata(folder).columns] == ["id"]
    assert [version.version for version in stored_versions(folder)] == [2, 1, 0]


class Snapshot:
    """What the JVM of a session answers about a table: the features of its protocol."""

    def __init__(self, names):
        self.names = names

    def protocol(self):
        return self

    def readerAndWriterFeatureNames(self):  # noqa: N802 - a method of Delta
        return self

    def mkString(self, separator):  # noqa: N802 - a method of Scala
        return separator.join(self.names)


def test_commits_are_not_looked_for_in_files_that_the_log_may_not_have():
    plain = Snapshot(["appendOnly", "rowTracking"])
    assert published(plain, Relation("t", "shop")) is plain
    with pytest.raises(EngineError) as caught:
        published(Snapshot(["inCommitTimestamp", "catalogManaged"]), Relation("t", "shop"))
    assert caught.value.code == "catalog-managed"
    assert "the commits of shop.t are managed by its catalog" in caught.value.message
    assert "as a source" in caught.value.hint
