"""What a MERGE will cost: the engine itself looks for the files that it reads, and earlier runs tell the time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from merge_runner.engine.context import PastMerge
from merge_runner.engine.spark.errors import Kind, engine_error, from_engine
from merge_runner.engine.table_format.protocol import ScanSize, TableFormat
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.plan.steps.scan_cost import rewritten_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIXED_COST = 32 << 20
"""Bytes up to which the time of a MERGE does not depend on how many it reads: planning and committing take longer."""


def predict(
    session: SparkSession, merge: RunMerge, table_format: TableFormat, history: Sequence[PastMerge], notes: list[str]
) -> Prediction:
    """Return what a MERGE, whose text and analysis are as it will run, is expected to cost. Nothing runs.

    `history` are earlier runs of the same model; `notes` gets what limits the answer. What the engine does not answer
    is not known: the MERGE itself says what is wrong. Raises EngineError where it is lost, or the node was cancelled.
    """
    scan = _scan(session, merge, table_format, notes)
    if scan is None:
        return Prediction(None, None, None, None)
    if scan.bytes is None:
        return Prediction(scan.files, None, None, None)
    rewritten = rewritten_bytes(merge.judged, scan.bytes)
    return Prediction(scan.files, scan.bytes, rewritten, predicted_seconds(scan.bytes, history))


def predicted_seconds(size: int, history: Sequence[PastMerge]) -> float | None:
    """Return the median time of earlier runs, each scaled by the bytes that are read; None where there is none."""
    if not history:
        return None
    times = [run.seconds * max(size, FIXED_COST) / max(run.bytes, FIXED_COST) for run in history]
    return round(median(times), 3)


def _scan(session: SparkSession, merge: RunMerge, table_format: TableFormat, notes: list[str]) -> ScanSize | None:
    capabilities = table_format.capabilities
    if merge.judged.statement.schema_evolution and capabilities.evolves_while_analysed:
        notes.append(f"WITH SCHEMA EVOLUTION would change an {capabilities.label} table while it is planned: not asked")
        return None
    try:
        return table_format.target_files(session, merge, table_format.state(session, merge.target), notes)
    except Exception as error:
        if not from_engine(error):
            raise
        failure = engine_error(error)
        if failure.kind in (Kind.CANCELLED, Kind.LOST):
            raise failure from error
        notes.append(f"its files cannot be counted: {failure.message}")
        return None
