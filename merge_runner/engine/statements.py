"""Runs SQL text in a session; what goes wrong is an EngineError that knows the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.failures import engine_error

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.types import StructType


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
