"""Runs SQL text in a session, and sets its confs.

What goes wrong with a text is an EngineError that knows it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.snapshot_properties import around_statements
from merge_runner.merge.syntax.query_span import is_query

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

_SHORT, _LONG = "callSite.short", "callSite.long"
"""Local properties of a thread: the names that Spark gives to what it starts (`org.apache.spark.util.CallSite`)."""


@dataclass(frozen=True)
class StatementResult:
    """A statement that has run: its rows, how long it took by our clock, and the frame whose plan has its metrics.

    Spark drops the metrics of a plan that is no longer referenced.
    """

    rows: list[Row]
    milliseconds: int
    frame: DataFrame


def run_measured(session: SparkSession, statement: str) -> StatementResult:
    """Runs a command to its end, and keeps what it was run by. Raises EngineError."""
    started = time.monotonic()
    with engine_errors(statement), around_statements()(session):
        _set_call_site(session)
        frame = session.sql(statement)
        rows = frame.collect()
    return StatementResult(rows, round(1000 * (time.monotonic() - started)), frame)


def run_statement(session: SparkSession, statement: str) -> list[Row]:
    """Runs a statement to its end and gives its rows. Raises EngineError."""
    with engine_errors(statement), around_statements()(session):
        _set_call_site(session)
        return session.sql(statement).collect()


def run_query(session: SparkSession, statement: str) -> tuple[tuple[str, ...], list[Row]]:
    """Run a statement to its end and return the names of its columns with its rows. Raises EngineError."""
    with engine_errors(statement), around_statements()(session):
        _set_call_site(session)
        frame = session.sql(statement)
        return tuple(frame.schema.names), frame.collect()


def run_command(session: SparkSession, command: str) -> None:
    """Run a command (DDL, INSERT, MERGE) to its end, without fetching its rows: that would be another query.

    Spark runs commands as soon as it is given them, and only commands: a query would not run. Raises EngineError.
    """
    with engine_errors(command), around_statements()(session):
        _set_call_site(session)
        session.sql(command)


def analyse(session: SparkSession, query: str) -> StructType:
    """The columns that a query gives, without running it; what is none is an error. Raises EngineError."""
    # Spark runs a command when it is given it: in parentheses it is no command any more.
    before, after = ("", "") if is_query(query) else ("SELECT * FROM (\n", "\n)")
    statement = f"{before}{query}{after}"
    try:
        with engine_errors(statement):
            _set_call_site(session)
            return session.sql(statement).schema
    except EngineError as error:
        if error.offset is not None:
            error.statement, error.offset = query, max(0, min(error.offset - len(before), len(query)))
        raise


def files_read(session: SparkSession, query: str) -> int:
    """How many files a query over a Delta table would read, as Delta finds them; it is not run. Raises EngineError."""
    with engine_errors(query):
        _set_call_site(session)
        planned = session.sql(query)
        # The names of the files stay in the JVM where it is at hand.
        return len(planned._jdf.inputFiles() if hasattr(planned, "_jdf") else planned.inputFiles())


def set_confs(session: SparkSession, confs: Mapping[str, str]) -> None:
    """Give the session these confs, which win over what it has. Raises what PySpark raises."""
    for key, value in confs.items():
        session.conf.set(key, value)


@contextmanager
def temporary_confs(session: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """The session has these confs inside the block; afterwards they are as before. Raises what PySpark raises."""
    before = {key: session.conf.get(key, None) for key in confs}
    try:
        set_confs(session, confs)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)


def name_caller(context: SparkContext, name: str | None) -> None:
    """Set the call site of Spark's jobs in this thread; None: Spark determines it.

    To do so, it walks the stack for each RDD that it makes, which takes 3% of the time of small merges.
    """
    for key in (_SHORT, _LONG):
        context.setLocalProperty(key, name)  # type: ignore[arg-type]  # None clears it


def _set_call_site(session: SparkSession) -> None:
    """Set the short call site, where this thread has a long one."""
    context = getattr(session, "_sc", None)  # Spark Connect has none
    if context is not None and (name := context.getLocalProperty(_LONG)) is not None:
        context.setLocalProperty(_SHORT, name)  # PySpark sets its own to fetch rows, then clears it
