"""What Delta's MERGE says that it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.response import MergeFigures
from merge_runner.engine.spark.physical_plan_metrics import command_metrics
from merge_runner.engine.spark.sql import StatementResult
from merge_runner.engine.table_format.delta.log import statement_commit
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHORT_NAMES = {
    "rows_source": "numSourceRows",
    "rows_inserted": "numTargetRowsInserted",
    "rows_updated": "numTargetRowsUpdated",
    "rows_deleted": "numTargetRowsDeleted",
    "rows_copied": "numTargetRowsCopied",
    "files_total": "numTargetFilesBeforeSkipping",
    "files_scanned": "numTargetFilesAfterSkipping",
    "bytes_scanned": "numTargetBytesAfterSkipping",
    "files_added": "numTargetFilesAdded",
    "files_removed": "numTargetFilesRemoved",
    "bytes_added": "numTargetBytesAdded",
    "bytes_removed": "numTargetBytesRemoved",
    "scan_ms": "scanTimeMs",
    "rewrite_ms": "rewriteTimeMs",
    "execution_ms": "executionTimeMs",
}
"""Figures of a MERGE, and the metric of Delta's MERGE that each one is."""


def merge_figures(session: SparkSession, target: Relation, stamp: str, result: StatementResult) -> MergeFigures:
    """The figures of a MERGE. Raises EngineError.

    Skipping, partitions and the second scan are only in the command's own metrics, which Spark Connect does not expose;
    the history is the truth of what was committed. A MERGE that changes nothing commits no version.
    """
    metrics = command_metrics(result)
    if "operationNumSourceRows" in metrics:
        # The history's numSourceRows; the command's own counts rows again that are read again.
        metrics["numSourceRows"] = metrics.pop("operationNumSourceRows")
    commit = statement_commit(session, target, stamp)
    if commit is not None:
        metrics |= {name: int(value) for name, value in commit.metrics.items() if value.lstrip("-").isdigit()}
    figures = {short: metrics.get(name) for short, name in SHORT_NAMES.items()}
    if result.rows:
        counted = result.rows[0].asDict()
        for kind in ("inserted", "updated", "deleted", "affected"):
            figures[f"rows_{kind}"] = counted[f"num_{kind}_rows"]
    return MergeFigures.of({**figures, "table_version": commit.version if commit is not None else None}, metrics)
