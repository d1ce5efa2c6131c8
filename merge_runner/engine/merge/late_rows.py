"""Rows that came to an input after the last batch, and are older than the batches that run: none will merge them."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Rows of a table that came late, and the times of the oldest and newest as texts, in the zone of the session."""

    table: Relation
    rows: int
    oldest: str
    newest: str


def late_rows(
    session: SparkSession,
    table_format: TableFormat,
    table: Relation,
    event_time: str,
    merged: Sequence[tuple[str, str]],
    since: int,
) -> LateRows | None:
    """Return the rows of a table that came after `since` (ms since the epoch), before and between `merged` windows.

    These are the start and end of what batches have merged since, as SQL literals in their order. Files that the table
    had then are not read. None: there are no such rows, or that is not known, since the table had no version then, or
    it cannot be asked for its files. Raises EngineError.
    """
    states = table_format.earlier_states(session, table)
    before = next((state for state in states if state.milliseconds is not None and state.milliseconds <= since), None)
    if before is None:
        return None
    sides = TableVersion(table, before.version), TableVersion(table)
    is_merged = " OR ".join(f"({event_time} >= {start} AND {event_time} < {end})" for start, end in merged)
    is_late = f"{event_time} < {merged[-1][1]} AND NOT ({is_merged})"
    with table_format.unshared_files(session, *sides, _VIEWS) as files:
        if files is None or not files.right:
            return None
        # Compaction writes rows into new files that are not new.
        rows_before, rows_now = (f"SELECT {event_time} AS at FROM {view} WHERE {is_late}" for view in _VIEWS)
        oldest, newest = ("CAST(min(at) AS STRING) AS oldest", "CAST(max(at) AS STRING) AS newest")
        query = f"SELECT count(*) AS late, {oldest}, {newest} FROM ({rows_now} EXCEPT ALL {rows_before})"
        row = run_statement(session, query)[0]
    return LateRows(table, int(row["late"]), str(row["oldest"]), str(row["newest"])) if row["late"] else None
