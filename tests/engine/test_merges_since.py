"""How many MERGEs since the last compaction: what a log says, without a table."""

import pytest

from merge_runner.engine.maintenance import optimize
from merge_runner.engine.table_format.commit_metadata import of_hook, of_maintenance, stamp
from merge_runner.engine.table_format.protocol import Commit
from merge_runner.relation import Relation

OURS = stamp("i", "model.shop.fct")
TABLE = Relation("t", "s")


@pytest.fixture
def has(monkeypatch):
    """Whether a table whose newest commits are these has `enough` merges; how many of them are read."""

    def run(commits, enough, table_format):
        read = []

        def latest(_session, _table, limit):
            for commit in commits[:limit]:
                read.append(commit)
                yield commit

        name = "latest_snapshots" if table_format == "iceberg" else "latest_commits"
        monkeypatch.setattr(optimize, name, latest)
        return optimize.has_merges_since_compaction(None, TABLE, table_format, enough), len(read)

    return run


@pytest.mark.parametrize(
    ("operations", "enough", "found"),
    [
        (["MERGE", "WRITE", "MERGE", "OPTIMIZE"], 2, (True, 3)),
        (["MERGE", "WRITE", "MERGE", "OPTIMIZE"], 3, (False, 4)),
        (["MERGE", "OPTIMIZE", "MERGE", "MERGE"], 2, (False, 2)),
        (["MERGE", "CREATE OR REPLACE TABLE", "MERGE"], 2, (False, 2)),
        (["MERGE", "VACUUM END", "VACUUM START", "MERGE"], 2, (True, 4)),
        (["OPTIMIZE"], 1, (False, 1)),
        ([], 1, (False, 0)),
        (["WRITE"] * 10 + ["MERGE"], 1, (False, 10)),
    ],
)
def test_delta(has, operations, enough, found):
    assert has([Commit(9, operation, OURS, {}) for operation in operations], enough, "delta") == found


MERGED = {"spark.merge-into.num-target-rows-copied": "0"}
REWRITTEN = {"added-data-files": "1"}


@pytest.mark.parametrize(
    ("snapshots", "enough", "found"),
    [
        ([("overwrite", None, MERGED), ("append", OURS, {}), ("replace", None, REWRITTEN)], 2, (True, 2)),
        ([("overwrite", None, MERGED), ("replace", None, REWRITTEN), ("overwrite", None, MERGED)], 2, (False, 2)),
        ([("replace", None, {"manifests-created": "1"}), ("overwrite", None, MERGED)], 1, (True, 2)),
        ([("append", of_hook(OURS, "post_hook"), {})], 1, (False, 1)),
        ([("append", of_maintenance(OURS, "vacuum"), {})], 1, (False, 1)),
        ([("append", None, {}), ("delete", "a text of theirs", {}), ("append", "[1]", {})], 1, (False, 3)),
    ],
)
def test_iceberg(has, snapshots, enough, found):
    assert has([Commit(9, *each) for each in snapshots], enough, "iceberg") == found
