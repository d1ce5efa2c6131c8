"""The day that `current_date()` gives, by the engine's own time zone and rules for daylight saving time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.spark.sql import run_statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def current_day(session: SparkSession) -> tuple[float, float]:
    """Return when the day of a session begins and ends, in seconds since 1970 (UTC). Raises EngineError."""
    begins, ends = (
        f"unix_timestamp(cast({day} AS timestamp_ltz))" for day in ("current_date()", "date_add(current_date(), 1)")
    )
    row = run_statement(session, f"SELECT {begins} AS begins, {ends} AS ends")[0]
    return float(row["begins"]), float(row["ends"])
