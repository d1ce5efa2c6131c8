"""Iceberg's compaction: data files, and where a MERGE has marked rows, its delete files (Iceberg 1.12.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merge_runner.engine.iceberg_log import latest_snapshots
from merge_runner.engine.iceberg_procedures import call_procedure
from merge_runner.engine.stamp import maintained_version
from merge_runner.plan.steps import OptimizeTable
from merge_runner.relation import quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def iceberg_optimize(session: SparkSession, step: OptimizeTable, stamp: str) -> dict[str, Any]:
    """Files and bytes added and removed, `delete_files_removed`, `table_version` and `metrics`. Raises EngineError.

    `table_version` is None where there was nothing to do: no snapshot is written then.
    """
    table = step.layout.relation
    arguments = {}
    if step.zorder_by:
        order = f"zorder({', '.join(quote(column) for column in step.zorder_by)})"
        arguments = {"strategy": "'sort'", "sort_order": string_literal(order)}
    if step.where is not None:
        arguments["where"] = string_literal(step.where)
    data = call_procedure(session, table, "rewrite_data_files", **arguments).asDict()
    commit = next((one for one in latest_snapshots(session, table, 1) if one.stamp == stamp), None)
    summary = commit.metrics if commit is not None else {}
    told = {f"rewrite_data_files.{name}": value for name, value in data.items()}
    marks = int(data["removed_delete_files_count"])
    if _delete_files(session, step):
        deletes = call_procedure(session, table, "rewrite_position_delete_files").asDict()
        marks += int(deletes["rewritten_delete_files_count"]) - int(deletes["added_delete_files_count"])
        told |= {f"rewrite_position_delete_files.{name}": value for name, value in deletes.items()}
    return {
        "files_added": data["added_data_files_count"],
        "files_removed": data["rewritten_data_files_count"],
        "bytes_added": int(summary.get("added-files-size", 0)),
        "bytes_removed": data["rewritten_bytes_count"],
        "delete_files_removed": marks,
        "table_version": maintained_version(session, table, "iceberg", stamp) if marks or commit is not None else None,
        "metrics": told,
    }


def _delete_files(session: SparkSession, step: OptimizeTable) -> bool:
    """Whether the newest snapshot still has delete files."""
    newest = next(latest_snapshots(session, step.layout.relation, 1), None)
    return newest is not None and newest.metrics.get("total-delete-files", "0") != "0"
