"""How many MERGEs since the last compaction: what a log says, without a table."""

import pytest

from merge_runner.engine.maintenance import has_merges_since_compaction
from merge_runner.engine.table_format.commit_metadata import of_hook, of_maintenance, stamp
from merge_runner.engine.table_format.delta import maintenance as delta
from merge_runner.engine.table_format.iceberg import maintenance as iceberg
from merge_runner.engine.table_format.protocol import Commit
from merge_runner.relation import Relation

OURS = stamp("i", "model.shop.fct")
TABLE = Relation("t", "s")


class Log:
    """A table format whose one table has these commits, newest first, which `merges` tells apart."""

    def __init__(self, merges, commits):
        self.merges, self.commits, self.read = merges, commits, 0

    def merges_since_compaction(self, _session, _table, limit):
        return self.merges(self._latest(limit))

    def _latest(self, limit):
        for commit in self.commits[:limit]:
            self.read += 1
            yield commit


def has(merges, commits, enough):
    """Whether a table whose newest commits are these has `enough` merges; how many of them are read."""
    log = Log(merges, commits)
    return has_merges_since_compaction(None, TABLE, log, enough), log.read


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
def test_delta(operations, enough, found):
    assert has(delta.merges, [Commit(9, operation, OURS, {}) for operation in operations], enough) == found


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
def test_iceberg(snapshots, enough, found):
    assert has(iceberg.merges, [Commit(9, *each) for each in snapshots], enough) == found
