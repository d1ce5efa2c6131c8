"""Delta's OPTIMIZE: the statement, and what its row of metrics says (Delta 4.4.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.response import Compaction
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.delta.log import maintained_version
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def delta_optimize(session: SparkSession, step: OptimizeTable, stamp: str) -> Compaction:
    """Files and bytes added and removed, `table_version` and `metrics`. Raises EngineError.

    `table_version` is None where there was nothing to do: nothing is committed then.
    """
    told = run_statement(session, _statement(step))[0]["metrics"].asDict(recursive=True)
    added, removed = told["filesAdded"], told["filesRemoved"]
    changed = told["numFilesAdded"] or told["numFilesRemoved"]
    return Compaction(
        files_added=told["numFilesAdded"],
        files_removed=told["numFilesRemoved"],
        bytes_added=added["totalSize"],
        bytes_removed=removed["totalSize"],
        table_version=maintained_version(session, step.layout.relation, stamp) if changed else None,
        metrics={name: value for name, value in told.items() if value is not None},
    )


def _statement(step: OptimizeTable) -> str:
    words = f"OPTIMIZE {step.layout.relation}"
    if step.where is not None:
        words += f" WHERE {step.where}\n"  # it may end in a comment
    if step.zorder_by:
        words += f" ZORDER BY ({', '.join(quote(column) for column in step.zorder_by)})"
    return words
