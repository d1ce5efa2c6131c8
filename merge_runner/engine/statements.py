"""Runs SQL text in a session; what goes wrong is an EngineError that knows the text."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.failures import engine_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class Ran:
    """A statement that has run: its rows, how long it took by our clock, and the frame whose plan has its metrics.

    Spark forgets the metrics of a plan that nobody holds any more.
    """

    rows: list[Row]
    milliseconds: int
    frame: DataFrame


def run_measured(session: SparkSession, statement: str) -> Ran:
    """Runs a command to its end, and keeps what it was run by. Raises EngineError."""
    started = time.monotonic()
    try:
        frame = session.sql(statement)
        rows = frame.collect()
    except Exception as error:  # PySpark, Py4J and Delta raise many kinds
        raise engine_error(error, statement) from error
    return Ran(rows, round(1000 * (time.monotonic() - started)), frame)


def run_statement(session: SparkSession, statement: str) -> list[Row]:
    """Runs a statement to its end and gives its rows. Raises EngineError."""
    try:
        return session.sql(statement).collect()
    except Exception as error:  # PySpark, Py4J and Delta raise many kinds
        raise engine_error(error, statement) from error


def analyse(session: SparkSession, query: str) -> StructType:
    """The columns that a query gives, without running it. Raises EngineError."""
    try:
        return session.sql(query).schema
    except Exception as error:
        raise engine_error(error, query) from error


def files_read(session: SparkSession, query: str) -> int:
    """How many files a query over a Delta table would read, as Delta finds them; it is not run. Raises EngineError."""
    try:
        planned = session.sql(query)
        # The names of the files stay in the JVM where it is at hand.
        return len(planned._jdf.inputFiles() if hasattr(planned, "_jdf") else planned.inputFiles())
    except Exception as error:
        raise engine_error(error, query) from error
