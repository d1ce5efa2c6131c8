"""The queries that sources, tables and views of random projects are: filtered, computed, put together, latest by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.oracle.expression import Expression, Row, evaluate, holds

SIDE = "r"
"""The side of the columns in a query."""


@dataclass(frozen=True)
class Arm:
    """Rows of one table that pass a filter, computed row by row. `columns` None: `*`.

    `newer`: a column and a table; only rows whose value is larger than any of the table's are taken.
    """

    table: str
    where: Expression | None = None
    columns: tuple[tuple[str, Expression], ...] | None = None
    newer: tuple[str, str] | None = None


@dataclass(frozen=True)
class Query:
    """The rows of all arms (UNION ALL); with `latest_by`, of each key the first one in the order of `ordered_by`."""

    arms: tuple[Arm, ...]
    latest_by: tuple[str, ...] = ()
    ordered_by: tuple[str, ...] = ()

    def reads(self, table: str) -> bool:
        """Whether rows of a table are read."""
        return any(table in (arm.table, *(arm.newer or ())[1:]) for arm in self.arms)


def rows_of(query: Query, tables: Mapping[str, Sequence[Row]]) -> list[Row]:
    """The rows of the query, in no order."""
    rows = [
        row if arm.columns is None else _computed(arm, row)
        for arm in query.arms
        for row in tables[arm.table]
        if holds(arm.where, {SIDE: row}) and _is_newer(arm, row, tables)
    ]
    if not query.latest_by:
        return rows
    first: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=lambda row: [(row[name] is not None, row[name]) for name in query.ordered_by]):
        first.setdefault(tuple(row[name] for name in query.latest_by), row)
    return list(first.values())


def _is_newer(arm: Arm, row: Row, tables: Mapping[str, Sequence[Row]]) -> bool:
    if arm.newer is None:
        return True
    column, table = arm.newer
    known = [each[column] for each in tables[table] if each[column] is not None]
    return bool(known) and row[column] is not None and row[column] > max(known)


def _computed(arm: Arm, row: Row) -> Row:
    return {name: evaluate(value, {SIDE: row}) for name, value in arm.columns or ()}
