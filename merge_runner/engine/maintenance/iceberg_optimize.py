"""Iceberg's compaction: data files, and where a MERGE has marked rows, its delete files (Iceberg 1.12.0)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.engine.response import Compaction
from merge_runner.engine.table_format.iceberg.log import latest_snapshots
from merge_runner.engine.table_format.iceberg.procedures import call_procedure
from merge_runner.engine.table_format.protocol import Commit
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RECENT = 50
"""The search for our latest snapshot ends after this many snapshots of other writers."""


def iceberg_optimize(session: SparkSession, step: OptimizeTable) -> Compaction:
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
    told = {f"rewrite_data_files.{name}": value for name, value in data.items()}
    marks = int(data["removed_delete_files_count"])
    now = _newest(session, table)
    if now is not None and now.metrics.get("total-delete-files", "0") != "0":
        deletes = call_procedure(session, table, "rewrite_position_delete_files").asDict()
        marks += int(deletes["rewritten_delete_files_count"]) - int(deletes["added_delete_files_count"])
        told |= {f"rewrite_position_delete_files.{name}": value for name, value in deletes.items()}
    rewrites = list(_rewrites_since(session, table, before)) if marks or data["rewritten_data_files_count"] else []
    ours = (str(data["added_data_files_count"]), str(data["rewritten_data_files_count"]))
    counted = (one.metrics for one in rewrites if _data_files(one) == ours)
    return Compaction(
        files_added=data["added_data_files_count"],
        files_removed=data["rewritten_data_files_count"],
        bytes_added=int(next(counted, {}).get("added-files-size", 0)),
        bytes_removed=data["rewritten_bytes_count"],
        delete_files_removed=marks,
        table_version=rewrites[0].version if rewrites else None,
        metrics=told,
    )


def _newest(session: SparkSession, table: Relation) -> Commit | None:
    return next(latest_snapshots(session, table, 1), None)


def _rewrites_since(session: SparkSession, table: Relation, before: Commit | None) -> Iterator[Commit]:
    """The snapshots younger than `before` in which files were rewritten, newest first.

    A procedure neither gives its snapshot nor carries a stamp: a session's snapshot properties are for queries alone.
    """
    for commit in latest_snapshots(session, table, _RECENT):
        if before is not None and commit.version == before.version:
            return
        if commit.operation == "replace":
            yield commit


def _data_files(commit: Commit) -> tuple[str | None, str | None]:
    """How many data files a snapshot has added and removed, as its summary says."""
    return commit.metrics.get("added-data-files"), commit.metrics.get("deleted-data-files")
