"""Alters an existing table to what the project declares, where that changes metadata only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.spark.sql import run_command, run_statement
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.engine.tables.drift import Drift, drift, new_columns
from merge_runner.formats.failures import HINTS, VIOLATED
from merge_runner.plan.steps.table import Layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Alteration:
    """What was altered of a table, and what differs still, as text; `missing` is the part of it about missing columns.

    `missing` is by the name of the column.
    """

    altered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)


def alter(session: SparkSession, layout: Layout, table_format: TableFormat, shape: str | None = None) -> Alteration:
    """Alter the table of a layout to what is declared, where that changes metadata only.

    Missing columns are added first, where the layout asks for it: defaults and checks may be about them; `shape` is the
    query whose columns a new table would get. What cannot be altered, or is refused, stays as it is: the MERGE may well
    succeed. Raises EngineError where the statement is not at fault: done again, this alters what is left; and
    `sampled-table` where the table has rows of a run with `--empty` or `--sample`.
    """
    appends = layout.on_schema_change == "append_new_columns"
    added = resolved(session, new_columns(session, layout, shape)) if appends else Alteration()
    others = drift(session, layout, table_format)
    for difference in others:
        if difference.stops is not None and run_statement(session, f"SELECT 1 FROM {layout.relation} LIMIT 1"):
            raise EngineError(
                "sampled-table", f"{layout.relation.name} has rows, and {difference.words}", difference.stops
            )
    rest = resolved(
        session,
        (
            difference
            for difference in others
            if not difference.missing or not added.missing.keys() >= set(difference.missing)
        ),
    )
    return Alteration(added.altered + rest.altered, added.left + rest.left, {**added.missing, **rest.missing})


def resolved(session: SparkSession, differences: Iterable[Drift]) -> Alteration:
    """Alter what differs, as the differences say. Raises EngineError as `alter` does."""
    altered: list[str] = []
    left: list[str] = []
    missing: dict[str, str] = {}
    for item in differences:
        words = item.words
        if item.remedy:
            try:
                _make_good(session, item)
            except EngineError as error:
                if error.kind is not Kind.USER:
                    raise
                words = f"{words}: {error.message}" + (f"; {error.hint}" if error.hint else "")
            else:
                altered.append(item.done or words)
                continue
        left.append(words)
        missing.update(dict.fromkeys(item.missing, words))
    return Alteration(tuple(altered), tuple(left), missing)


def _make_good(session: SparkSession, item: Drift) -> None:
    if item.violating is not None:
        rows = run_statement(session, item.violating)[0][0]
        if rows:
            message = f"{rows:,} {'row violates' if rows == 1 else 'rows violate'} it"
            raise EngineError(VIOLATED, message, hint=HINTS[VIOLATED])
    for number, statement in enumerate(item.remedy):
        try:
            run_command(session, statement)
        except EngineError as error:
            if number and item.undo is not None and error.kind is Kind.USER:
                run_command(session, item.undo)
            raise
