"""What is known of the rows that USING gives: columns, keys without duplicates, restrictions that always hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from merge_runner.merge.syntax.placeholder import has_placeholder
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Col

if TYPE_CHECKING:
    from merge_runner.pruning.logic.term import Term


@dataclass(frozen=True)
class KnownTable:
    """A table or view that a query may name. `query` is the rendered text of a view's query, None for a table.

    `fixed`: its rows are the same however often a statement reads it, though it has no versions to be named: a batch of
    a stream, the changes of a table. `files`: it is a table of files that Spark itself reads, such as CSV or Parquet.
    `temporary`: it is a view of a session. `event_time` is what says when a row happened: a column or an
    expression; None where none is declared.
    """

    layout: TableLayout
    query: str | None = None
    fixed: bool = False
    files: bool = False
    temporary: bool = False
    event_time: str | None = None

    @cached_property
    def rows(self) -> SourceFacts:
        """What the layout says of its rows."""
        unique = tuple(frozenset(name.casefold() for name in key) for key in self.layout.unique)
        if self.layout.columns is not None and self.layout.complete:
            return SourceFacts(self.layout.columns, unique)
        return SourceFacts(None, unique, some=self.layout.columns or ())


Lookup = Callable[[tuple[str, ...]], KnownTable | None]
"""Finds a table by the unquoted parts of its name; None where nothing is known of it."""


@dataclass(frozen=True)
class Absence:
    """No row of a table, by the case folded parts of its name, agrees with a row in all of these columns.

    `pairs` are columns of the table, each with the column that it would be equal to, and whether NULL counts as equal.
    """

    table: tuple[str, ...]
    pairs: tuple[tuple[str, Col, bool], ...]

    def of_columns(self, moved: Callable[[Col], Col | None]) -> Absence | None:
        """Return the same of the columns that these are passed on as; None where one of them is not."""
        pairs = [(name, own, null_safe) for name, at, null_safe in self.pairs if (own := moved(at)) is not None]
        return Absence(self.table, tuple(pairs)) if len(pairs) == len(self.pairs) else None


@dataclass(frozen=True)
class SourceFacts:
    """What is known of the rows of a query or table.

    `columns` None: they are not all known; `some` are those that are. A column whose name is empty cannot be named.
    `unique` are sets of column names, case folded, in which no two rows agree; the empty set says that there is at most
    one row. `restrictions` are conditions on the columns (relation 0) that are true of every row. `readable` False: the
    query cannot be read to its ground, so that there may be more keys and restrictions than these. Of `some`, the first
    `leading` columns are the first of the rows. `unique_not_null` are sets in which no two rows agree that have no NULL
    there; the columns of `nulled` are NULL in all rows of one branch of a UNION: such a row is meant to match nothing,
    as the new version in a history is. `absent` is what other tables do not have.
    """

    columns: tuple[TableColumn, ...] | None = None
    unique: tuple[frozenset[str], ...] = ()
    restrictions: tuple[Term, ...] = ()
    readable: bool = True
    some: tuple[TableColumn, ...] = ()
    leading: int = 0
    unique_not_null: tuple[frozenset[str], ...] = ()
    nulled: frozenset[str] = frozenset()
    absent: tuple[Absence, ...] = ()

    @property
    def known_columns(self) -> tuple[TableColumn, ...]:
        """The columns that are known, all or not."""
        return self.columns if self.columns is not None else self.some

    @cached_property
    def names_known(self) -> bool:
        """Whether the names of all columns are known."""
        return self.columns is not None and all(column.name for column in self.columns)

    def column(self, name: str) -> TableColumn | None:
        """The column with this name, where known."""
        return self._by_name.get(name.casefold())

    def has_column(self, name: str) -> bool | None:
        """Whether there is such a column; None where that is not known."""
        if name.casefold() in self._by_name:
            return True
        if has_placeholder(name):
            return None
        return False if self.names_known else None

    def has_field(self, column: str, name: str) -> bool | None:
        """Whether a column has a field; None where its type is not known."""
        struct = self.column(column)
        return None if struct is None else struct.has_field(name)

    def column_names(self) -> list[str]:
        """The names that are known, in their order; "" for a column that has none to write."""
        return [column.name for column in self.known_columns]

    def is_unique(self, names: frozenset[str]) -> bool:
        """Whether no two rows agree in all of these columns (case folded); False: that is not proven."""
        if any(key <= names for key in self.unique):
            return True
        return any(all(name in names or self.is_constant(name) for name in key) for key in self.unique)

    def is_unique_not_null(self, names: frozenset[str]) -> bool:
        """Whether no two rows without NULL in these columns agree in all of them; False: that is not proven."""
        return self.is_unique(names) or any(key <= names for key in self.unique_not_null)

    def is_null(self, place: int) -> bool:
        """Whether the column at a place, counted from 0, is NULL in all rows; False: that is not proven."""
        columns = self.columns if self.columns is not None else self.some[: self.leading]
        if place >= len(columns):
            return False
        return Call("isnull", (Col(0, name_at(columns[place].name, place)),)) in self.restrictions

    def is_constant(self, name: str) -> bool:
        """Whether the column has one value in all rows."""
        column = self.column(name)
        whole = column is not None and column.data_type is not None and column.data_type.name in _WHOLE
        return self.facts.constant(Col(0, name.casefold()), whole=whole)

    def is_bounded(self, name: str) -> bool:
        """Whether constants bound the column from below or above."""
        return bool(self.facts.bounds(Col(0, name.casefold())))

    @cached_property
    def facts(self) -> Facts:
        """The restrictions, in a form that answers questions."""
        return Facts(self.restrictions, [Col(0, c.name.casefold()) for c in self.known_columns if c.nullable is False])

    @cached_property
    def _by_name(self) -> dict[str, TableColumn]:
        return {column.name.casefold(): column for column in reversed(self.known_columns)}


def name_at(name: str, place: int) -> str:
    """What restrictions call the column at a place, counted from 0: its name, or a word that cannot be written."""
    return name.casefold() or f"\0{place}"


_WHOLE = ("tinyint", "smallint", "int", "bigint")

UNREADABLE = SourceFacts(readable=False)
"""Rows of which nothing is known."""
