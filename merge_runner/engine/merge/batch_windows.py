"""The windows of time that a table has committed for the batches of a model, and where its rows end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from merge_runner.engine.merge.restored import restored_version
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.plan.batches.due import Commitment, commitments
from merge_runner.plan.batches.window import TimeType
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class CommittedWindows:
    """What a table says of the batches of a model. `prefix` and a window are the name of its application."""

    prefix: str
    windows: Sequence[Commitment]


def committed_windows(
    session: SparkSession, table: Relation, table_format: TableFormat, application: str
) -> CommittedWindows:
    """Return the windows that a table has committed for a model.

    Raises EngineError, `batch-history` over Spark Connect for a format whose log cannot be asked there.
    """
    prefix = f"{application}@"
    if table_format.capabilities.keeps_batches:
        # A table that is replaced keeps its record, which is of its former rows; it gets another id.
        snapshot = table_format.snapshot(session, table)
        if snapshot is None:
            raise EngineError(
                "batch-history",
                f"which batches {table.name} has committed is not known: its log cannot be asked over Spark Connect",
                hint="build models with `batch_size` on a profile without `remote`",
            )
        prefix += f"{snapshot.table_id}@"
    return CommittedWindows(prefix, commitments(table_format.recorded_batches(session, table, prefix), prefix))


def check_not_restored(session: SparkSession, table: Relation, table_format: TableFormat, stamp: str) -> None:
    """Raise EngineError where a table was restored after the last MERGE of the node of a stamp.

    Its rows went back then, and what a Delta table records of batches did not.
    """
    if not table_format.capabilities.keeps_batches:
        return  # an Iceberg table that is rolled back has the record of its rows
    version = restored_version(session, table, table_format, stamp)
    if version is not None:
        raise EngineError(
            "batches-restored",
            f"{table.name} was restored in version {version}: which batches its rows hold is not known",
            hint="`--event-time-start` runs the batches that were undone",
        )


def newest_row(session: SparkSession, table: Relation, event_time: str, type: TimeType) -> datetime | None:
    """Return the time of the newest row of a table (UTC), None without rows. Raises EngineError."""
    newest_time = f"max({event_time})"
    if type != "timestamp":  # it is the same time in each zone
        newest_time = f"CAST(CAST({newest_time} AS TIMESTAMP_NTZ) AS STRING) || '+00:00'"
    rows = run_statement(session, f"SELECT unix_micros(CAST({newest_time} AS TIMESTAMP)) AS newest FROM {table}")
    newest = rows[0]["newest"]
    return None if newest is None else datetime.fromtimestamp(newest / 1_000_000, timezone.utc)
