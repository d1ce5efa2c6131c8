"""Compaction of an Iceberg table, and the expiration of its snapshots (Iceberg 1.12.0).

Data files are compacted, and where a MERGE has marked rows, its delete files.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from merge_runner.engine.response import Compaction
from merge_runner.engine.spark.sql import temporary_confs
from merge_runner.engine.table_format.commit_metadata import is_of_a_statement, stamp_confs
from merge_runner.engine.table_format.iceberg.batches import batch_records, write_again
from merge_runner.engine.table_format.iceberg.log import RECENT, latest_snapshots
from merge_runner.engine.table_format.iceberg.procedures import call_procedure
from merge_runner.engine.table_format.protocol import Commit, VacuumResult
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELETED = ("deleted_data_files_count", "deleted_position_delete_files_count", "deleted_equality_delete_files_count")


def optimize(session: SparkSession, step: OptimizeTable, stamp: str) -> Compaction:
    """Files and bytes added and removed, `delete_files_removed`, `table_version` and `metrics`. Raises EngineError.

    `table_version` is None where there was nothing to do: no snapshot is written then.
    """
    table = step.layout.relation
    before = _newest(session, table)
    arguments = {}
    if step.zorder_by:
        order = f"zorder({', '.join(quote(column) for column in step.zorder_by)})"
        arguments = {"strategy": "'sort'", "sort_order": string_literal(order)}
    if step.where is not None:
        arguments["where"] = string_literal(step.where)
    data = call_procedure(session, table, "rewrite_data_files", **arguments).asDict()
    metrics_of_files = {f"rewrite_data_files.{name}": value for name, value in data.items()}
    marks = int(data["removed_delete_files_count"])
    now = _newest(session, table)
    if now is not None and now.metrics.get("total-delete-files", "0") != "0":
        deletes = call_procedure(session, table, "rewrite_position_delete_files").asDict()
        marks += int(deletes["rewritten_delete_files_count"]) - int(deletes["added_delete_files_count"])
        metrics_of_files |= {f"rewrite_position_delete_files.{name}": value for name, value in deletes.items()}
    rewrites = list(_rewrites_since(session, table, before)) if marks or data["rewritten_data_files_count"] else []
    ours = (str(data["added_data_files_count"]), str(data["rewritten_data_files_count"]))
    counted = (commit.metrics for commit in rewrites if _data_files(commit) == ours)
    return Compaction(
        files_added=data["added_data_files_count"],
        files_removed=data["rewritten_data_files_count"],
        bytes_added=int(next(counted, {}).get("added-files-size", 0)),
        bytes_removed=data["rewritten_bytes_count"],
        delete_files_removed=marks,
        table_version=rewrites[0].version if rewrites else None,
        metrics=metrics_of_files,
    )


def _newest(session: SparkSession, table: Relation) -> Commit | None:
    return next(latest_snapshots(session, table, 1), None)


def _rewrites_since(session: SparkSession, table: Relation, before: Commit | None) -> Iterator[Commit]:
    """The snapshots younger than `before` in which files were rewritten, newest first.

    A procedure neither gives its snapshot nor carries a stamp: a session's snapshot properties are for queries alone.
    """
    for commit in latest_snapshots(session, table, RECENT):
        if before is not None and commit.version == before.version:
            return
        if commit.operation == "replace":
            yield commit


def _data_files(commit: Commit) -> tuple[str | None, str | None]:
    """How many data files a snapshot has added and removed, as its summary says."""
    return commit.metrics.get("added-data-files"), commit.metrics.get("deleted-data-files")


def vacuum(session: SparkSession, table: Relation, retain: float, stamp: str) -> VacuumResult:
    """Expires the snapshots that are older than `retain` seconds, and deletes the files that only they need.

    The table's own `history.expire.min-snapshots-to-keep`, branches and tags hold. Raises EngineError.
    """
    before = round(1000 * (time.time() - retain))
    with temporary_confs(session, stamp_confs(stamp)):
        if expiring := [record for record in batch_records(session, table) if record.written < before]:
            write_again(session, table, expiring)
        oldest = min((record.written for record in batch_records(session, table)), default=before)
        note = f"{table.name}: snapshots since {_utc(oldest)} are kept: they alone say which batches are committed"
        until = f"TIMESTAMP '{_utc(min(before, oldest))}'"
        deleted_files = call_procedure(session, table, "expire_snapshots", older_than=until).asDict()
    deleted = sum(int(deleted_files[name] or 0) for name in _DELETED)
    metrics = {f"expire_snapshots.{name}": value for name, value in deleted_files.items()}
    return VacuumResult(deleted, metrics, note if oldest < before else None)


def _utc(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(sep=" ", timespec="milliseconds")


def merges_since_compaction(session: SparkSession, table: Relation, limit: int) -> Iterator[bool]:
    """Of each snapshot since the table was compacted, newest first, whether it is that of a MERGE.

    `replace` that adds data files is a compaction, and not one that rewrites manifests.
    """
    return merges(latest_snapshots(session, table, limit))


def merges(snapshots: Iterable[Commit]) -> Iterator[bool]:
    """Yield the same of snapshots, newest first."""
    for commit in snapshots:
        if commit.operation == "replace" and "added-data-files" in commit.metrics:
            return
        yield commit.operation != "replace" and _is_merge(commit)


def _is_merge(commit: Commit) -> bool:
    """Whether a snapshot is that of a MERGE. An insert-only one is an append to Spark: only our stamp identifies it."""
    return is_of_a_statement(commit.stamp) or any(key.startswith("spark.merge-into.") for key in commit.metrics)
