"""Compacts a table and reports the files, under the same names for Delta's OPTIMIZE and Iceberg's procedures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merge_runner.engine.context import Workplace
from merge_runner.engine.log.commit_metadata import of_maintenance, stamp_confs
from merge_runner.engine.maintenance.delta_optimize import delta_optimize
from merge_runner.engine.maintenance.iceberg_optimize import iceberg_optimize
from merge_runner.engine.maintenance.merges_since import has_merges_since_compaction
from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.plan.steps.steps import OptimizeTable


def optimize_table(step: OptimizeTable, place: Workplace) -> None:
    """Compacts the table of the step; what it did is in the response of `place`. Raises EngineError.

    The node's own OPTIMIZE is its response; one `after` a MERGE is `optimized` in the MERGE's, and only happens when
    there have been enough of them.
    """
    session, layout = place.session, step.layout
    if step.after is not None:
        if has_merges_since_compaction(session, layout.relation, layout.format, step.after):
            place.response["optimized"] = _optimize(step, place)
    elif place.catalog.adopt(session, layout):
        place.response |= _optimize(step, place)
    else:
        place.no_op = f"there is no table {layout.relation.name} yet"


def _optimize(step: OptimizeTable, place: Workplace) -> dict[str, Any]:
    if step.layout.format == "iceberg":
        return {"operation": "OPTIMIZE", **iceberg_optimize(place.session, step)}
    stamp = of_maintenance(place.stamp, "optimize")
    with temporary_confs(place.session, stamp_confs(stamp)):
        return {"operation": "OPTIMIZE", **delta_optimize(place.session, step, stamp)}


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
