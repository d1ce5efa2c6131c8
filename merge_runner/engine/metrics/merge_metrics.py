"""What a committed MERGE did, in the engine's own figures and in the short names of an adapter response."""

from __future__ import annotations

from typing import Any

from merge_runner.engine.context import NodeContext
from merge_runner.engine.metrics.delta_metrics import delta_response
from merge_runner.engine.metrics.iceberg_metrics import iceberg_response
from merge_runner.engine.spark.errors import Kind, engine_error, from_engine
from merge_runner.engine.spark.sql import Ran
from merge_runner.relation import Relation

SHORT_NAMES = (
    *("rows_source", "rows_inserted", "rows_updated", "rows_deleted", "rows_copied", "rows_affected"),
    *("files_total", "files_scanned", "files_added", "files_removed", "bytes_added", "bytes_removed"),
    *("scan_ms", "rewrite_ms", "execution_ms", "table_version"),
)
"""The names that a MERGE's response has on every format; None where the format does not report it."""


def merge_response(context: NodeContext, target: Relation, format: str | None, ran: Ran) -> dict[str, Any]:
    """The response of a MERGE that has run: `operation`, SHORT_NAMES, and `metrics` by the engine's own names.

    The statement has returned, so that it has committed: figures that cannot be read are a warning, and never a failure
    of the model. Raises EngineError where the node was cancelled meanwhile.
    """
    response: dict[str, Any] = {"operation": "MERGE", **dict.fromkeys(SHORT_NAMES), "metrics": {}}
    read = iceberg_response if format == "iceberg" else delta_response
    try:
        response |= read(context.session, target, context.stamp, ran)
    except Exception as error:
        if not from_engine(error):
            raise
        known = engine_error(error)
        if known.kind is Kind.CANCELLED:
            raise known from error
        context.warnings.append(f"the MERGE ran to its end, and its figures cannot be read: {known.message}")
    return response
