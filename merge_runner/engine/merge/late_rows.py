"""Rows that came to an input after the last batch, and are older than the batches that run: none will merge them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.protocol import TableFormat, TableVersion
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VIEWS = ("merge_runner_rows_before", "merge_runner_rows_now")


@dataclass(frozen=True)
class LateRows:
    """Rows of a table that came late, and the time of the oldest as text."""

    table: Relation
    rows: int
    oldest: str


def late_rows(
    session: SparkSession, table_format: TableFormat, table: Relation, event_time: str, before: str, since: int
) -> LateRows | None:
    """Return the rows of a table that came after `since` (ms since the epoch) with an `event_time` below `before`.

    `before` is a SQL literal. Files that the table had then are not read. None: there are none, or that is not known,
    since the table had no version then, or it cannot be asked for its files. Raises EngineError.
    """
    states = table_format.earlier_states(session, table)
    then = next((state for state in states if state.milliseconds is not None and state.milliseconds <= since), None)
    if then is None:
        return None
    sides = TableVersion(table, then.version), TableVersion(table)
    with table_format.unshared_files(session, *sides, _VIEWS) as files:
        if files is None or not files.right:
            return None
        # Compaction writes rows into new files that are not new.
        rows_before, rows_now = (
            f"SELECT {event_time} AS at FROM {view} WHERE {event_time} < {before}" for view in _VIEWS
        )
        row = run_statement(
            session,
            f"SELECT count(*) AS late, CAST(min(at) AS STRING) AS oldest FROM ({rows_now} EXCEPT ALL {rows_before})",
        )[0]
    return LateRows(table, int(row["late"]), str(row["oldest"])) if row["late"] else None
