"""Compacts a table and reports the files, under the same names for Delta's OPTIMIZE and Iceberg's procedures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merge_runner.engine.context import NodeContext
from merge_runner.engine.maintenance.delta_optimize import delta_optimize
from merge_runner.engine.maintenance.iceberg_optimize import iceberg_optimize
from merge_runner.engine.maintenance.merges_since import has_merges_since_compaction
from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.engine.table_log.commit_metadata import of_maintenance, stamp_confs
from merge_runner.plan.steps.maintenance import OptimizeTable


def optimize_table(step: OptimizeTable, context: NodeContext) -> None:
    """Compacts the table of the step; what it did is in the response of `context`. Raises EngineError.

    The node's own OPTIMIZE is its response; one `after` a MERGE is `optimized` in the MERGE's, and only happens when
    there have been enough of them.
    """
    session, layout = context.session, step.layout
    if step.after is not None:
        if has_merges_since_compaction(session, layout.relation, layout.format, step.after):
            context.response["optimized"] = _optimize(step, context)
    elif context.catalog.adopt(session, layout):
        context.response |= _optimize(step, context)
    else:
        context.no_op = f"there is no table {layout.relation.name} yet"


def _optimize(step: OptimizeTable, context: NodeContext) -> dict[str, Any]:
    if step.layout.format == "iceberg":
        return {"operation": "OPTIMIZE", **iceberg_optimize(context.session, step)}
    stamp = of_maintenance(context.stamp, "optimize")
    with temporary_confs(context.session, stamp_confs(stamp)):
        return {"operation": "OPTIMIZE", **delta_optimize(context.session, step, stamp)}


def changed_files(response: Mapping[str, Any]) -> bool:
    """Whether the response reports any file that was written or removed."""
    return any(response.get(key) for key in ("files_added", "files_removed", "files_deleted", "delete_files_removed"))


def in_words(response: Mapping[str, Any]) -> str:
    """Return the effect on the files as text: `12 files into 3, 5 delete files removed; 7 files deleted`."""
    parts = []
    if response.get("files_removed") or response.get("files_added"):
        removed, added = response["files_removed"], response["files_added"]
        parts.append(f"{removed:,} file{'s' if removed != 1 else ''} into {added:,}")
    if marks := response.get("delete_files_removed"):
        parts.append(f"{marks:,} delete file{'s' if marks != 1 else ''} removed")
    said = ", ".join(parts) or "nothing to compact"
    if (deleted := response.get("files_deleted")) is not None:
        said += f"; {deleted:,} old file{'s' if deleted != 1 else ''} deleted"
    return said
