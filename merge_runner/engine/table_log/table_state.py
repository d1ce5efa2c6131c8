"""A table as it is at this moment: its version, and how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.table_log.delta_log import delta_state
from merge_runner.engine.table_log.iceberg_log import latest_snapshots
from merge_runner.formats import Format
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class TableState:
    """`version` is what `VERSION AS OF` takes; None for an Iceberg table without a snapshot."""

    version: int | None
    files: int
    bytes: int


def table_state(session: SparkSession, table: Relation, table_format: Format) -> TableState:
    """The newest state of a table as the session reads it, other processes' commits included. Raises EngineError."""
    if table_format == "delta":
        return TableState(*delta_state(session, table))
    head = next(latest_snapshots(session, table, 1), None)
    if head is None:
        return TableState(None, 0, 0)
    summary = head.metrics
    return TableState(head.version, int(summary.get("total-data-files", 0)), int(summary.get("total-files-size", 0)))
