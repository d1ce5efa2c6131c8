"""How many MERGEs a table has committed since its files were compacted last, as its own log says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.engine.table_log.commit import Commit
from merge_runner.engine.table_log.commit_metadata import is_of_a_statement
from merge_runner.engine.table_log.delta_log import latest_commits
from merge_runner.engine.table_log.iceberg_log import latest_snapshots
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ANEW = ("CREATE", "REPLACE")
"""How Delta's operations begin that write a table as a whole: none of its older files is left."""
_OTHERS = 10
"""The most commits of other kinds that are read for each MERGE that is counted."""


def has_merges_since_compaction(session: SparkSession, table: Relation, format: str, enough: int) -> bool:
    """Whether a table has committed `enough` MERGEs or more since it was compacted, or created. Raises EngineError.

    A MERGE that changes nothing commits nothing, and a compaction that finds nothing to do neither. Looks back no
    further than to ten times as many commits.
    """
    limit = enough * _OTHERS
    merges = 0
    for merged in _iceberg(session, table, limit) if format == "iceberg" else _delta(session, table, limit):
        merges += merged
        if merges >= enough:
            return True
    return False


def _delta(session: SparkSession, table: Relation, limit: int) -> Iterator[bool]:
    """Of each commit since the last compaction, newest first, whether it is a MERGE."""
    for commit in latest_commits(session, table, limit):
        if commit.operation == "OPTIMIZE" or commit.operation.startswith(_ANEW):
            return
        yield commit.operation == "MERGE"


def _iceberg(session: SparkSession, table: Relation, limit: int) -> Iterator[bool]:
    """The same of snapshots: `replace` that adds data files is a compaction, and not one that rewrites manifests."""
    for commit in latest_snapshots(session, table, limit):
        if commit.operation == "replace" and "added-data-files" in commit.metrics:
            return
        yield commit.operation != "replace" and _is_merge(commit)


def _is_merge(commit: Commit) -> bool:
    """Whether a snapshot is that of a MERGE. An insert-only one is an append to Spark: only our stamp identifies it."""
    return is_of_a_statement(commit.stamp) or any(key.startswith("spark.merge-into.") for key in commit.metrics)
