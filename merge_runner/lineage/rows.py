"""The rows of a query or table: the value of each column, and what decides which rows there are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from merge_runner.lineage.edge import Input, Table
from merge_runner.lineage.value import NOTHING, Value, union, unknown
from merge_runner.text import Span


@dataclass(frozen=True)
class Rest:
    """Columns that are not known by name: further ones of a table, or those of something that cannot be read.

    `known`: they are the table's, whatever they are called, apart from those in `left_out` (case folded). `more` is
    what each of them has besides; of what cannot be read that is the reason alone. `place` is how many known columns
    are before them.
    """

    table: Table | None
    left_out: frozenset[str] = frozenset()
    more: Value = NOTHING
    place: int = 0

    def column(self, name: str) -> Value:
        """The value of a column that is one of these."""
        if self.table is None:
            return self.more
        return union([Value(frozenset([Input(self.table.name, name, "identity")])), self.more])


@dataclass(frozen=True)
class Rows:
    """The columns that are known, each with its name (empty: without one to write), and the rest.

    `deciding` is what decides which rows there are.
    """

    columns: tuple[tuple[str, Value], ...] = ()
    rest: tuple[Rest, ...] = ()
    deciding: Value = NOTHING

    def has_column(self, name: str) -> bool | None:
        """Whether there is such a column; None where that is not known."""
        return True if self.having(name) else None if self.perhaps(name) else False

    def has_field(self, column: str, name: str) -> bool | None:
        """Whether a column is a struct that the query makes with this field; the types of tables are not known."""
        return any(name.casefold() in value.fields for value in self.having(column)) or None

    def column_names(self) -> list[str]:
        """The names that are known, in their order."""
        return [name for name, _ in self.columns]

    @property
    def names_known(self) -> bool:
        """Whether the names of all columns are known."""
        return not self.rest

    def having(self, name: str) -> Sequence[Value]:
        """The values of the columns that are known to have this name."""
        return self._by_name.get(name.casefold(), ())

    def perhaps(self, name: str) -> list[Rest]:
        """Where a column may be that is not among the known ones."""
        folded = name.casefold()
        return [rest for rest in self.rest if folded not in rest.left_out]

    @cached_property
    def _by_name(self) -> dict[str, list[Value]]:
        by_name: dict[str, list[Value]] = {}
        for name, value in self.columns:
            by_name.setdefault(name.casefold(), []).append(value)
        return by_name

    def every(self) -> Value:
        """All columns together."""
        rest = (unknown(f"the columns of {rest.table.name} are not all known") if rest.table else rest.more
                for rest in self.rest)  # fmt: skip
        return union([*(value for _, value in self.columns), *rest])

    def renamed(self, names: Sequence[str], span: Span | None = None) -> Rows:
        """The same rows under the column names that an alias such as `v(a, b)` gives them."""
        if not names:
            return self
        if self.rest or len(self.columns) != len(names):
            value = unknown("columns are renamed by their places, and not all of them are known", span)
            return replace(self, columns=tuple((name, value) for name in names), rest=())
        return replace(self, columns=tuple((name, value) for name, (_, value) in zip(names, self.columns, strict=True)))


def without(rows: Rows, names: Collection[str]) -> Rows:
    """The rows without the columns of these names, case folded."""
    mask = [name.casefold() not in names for name, _ in rows.columns]
    columns = tuple(column for column, is_kept in zip(rows.columns, mask, strict=True) if is_kept)
    rest = (replace(rest, left_out=rest.left_out | set(names), place=sum(mask[: rest.place])) for rest in rows.rest)
    return replace(rows, columns=columns, rest=tuple(rest))


def of_table(table: Table) -> Rows:
    """The rows of a table or view."""
    columns = tuple((name, Value(frozenset([Input(table.name, name, "identity")]))) for name in table.columns)
    left_out = frozenset(name.casefold() for name in table.columns)
    return Rows(columns, () if table.complete else (Rest(table, left_out, place=len(columns)),))


def unreadable(value: Value) -> Rows:
    """Rows of which nothing is known, for the reason in `value`."""
    return Rows(rest=(Rest(None, more=value),), deciding=value)


def item_at(node: exp.Expr, columns: Sequence[tuple[str, Value]]) -> Value | None:
    """The column that a number in GROUP BY or ORDER BY means; None where the node is no such number."""
    if not node.is_int:
        return None
    place = int(node.name) - 1
    return columns[place][1] if 0 <= place < len(columns) else NOTHING
