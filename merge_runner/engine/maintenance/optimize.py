"""Compacts a table and reports the files, under the same names for Delta's OPTIMIZE and Iceberg's procedures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.engine.context import NodeContext
from merge_runner.engine.maintenance.delta_optimize import delta_optimize
from merge_runner.engine.maintenance.iceberg_optimize import iceberg_optimize
from merge_runner.engine.response import Compaction, Vacuum
from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.engine.table_format.commit_metadata import is_of_a_statement, of_maintenance
from merge_runner.engine.table_format.delta.log import latest_commits
from merge_runner.engine.table_format.iceberg.log import latest_snapshots
from merge_runner.engine.table_format.protocol import Commit
from merge_runner.engine.table_format.registry import stamp_confs
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def optimize_table(step: OptimizeTable, context: NodeContext) -> None:
    """Compacts the table of the step; what it did is in the response of `context`. Raises EngineError.

    The node's own OPTIMIZE is its response; one `after` a MERGE is `optimized` in the MERGE's, and only happens when
    there have been enough of them.
    """
    session, layout = context.session, step.layout
    if step.after is not None:
        if has_merges_since_compaction(session, layout.relation, layout.format, step.after):
            context.response.optimized = _optimize(step, context)
    elif context.catalog.adopt(session, layout):
        context.response.statement = _optimize(step, context)
    else:
        context.no_op = f"there is no table {layout.relation.name} yet"


def _optimize(step: OptimizeTable, context: NodeContext) -> Compaction:
    if step.layout.format == "iceberg":
        return iceberg_optimize(context.session, step)
    stamp = of_maintenance(context.stamp, "optimize")
    with temporary_confs(context.session, stamp_confs(stamp)):
        return delta_optimize(context.session, step, stamp)


def changed_files(done: Compaction, vacuum: Vacuum | None = None) -> bool:
    """Whether any file was written or removed."""
    deleted = vacuum.files_deleted if vacuum is not None else None
    return any((done.files_added, done.files_removed, deleted, done.delete_files_removed))


def in_words(done: Compaction, vacuum: Vacuum | None = None) -> str:
    """Return the effect on the files as text: `12 files into 3, 5 delete files removed; 7 files deleted`."""
    parts = []
    removed, added = done.files_removed, done.files_added
    if removed or added:
        parts.append(f"{removed:,} file{'s' if removed != 1 else ''} into {added:,}")
    if marks := done.delete_files_removed:
        parts.append(f"{marks:,} delete file{'s' if marks != 1 else ''} removed")
    said = ", ".join(parts) or "nothing to compact"
    if vacuum is not None and (deleted := vacuum.files_deleted) is not None:
        said += f"; {deleted:,} old file{'s' if deleted != 1 else ''} deleted"
    return said


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
