"""The edges of column lineage as values, under the names of OpenLineage's facet `columnLineage`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from merge_runner.merge.statement import Action, ClauseKind
from merge_runner.text import Span

Direct = Literal["identity", "transformation", "aggregation"]
"""How a value is made of a column: a copy of it or of a field of it, anything else, or of many rows."""

Indirect = Literal["join", "filter", "group_by", "sort", "window", "conditional"]
"""Where a column only decides: ON, WHERE and HAVING, GROUP BY and DISTINCT, ORDER BY, OVER, a condition of CASE, IF or
WHEN."""

Subtype = Direct | Indirect

DIRECT: tuple[Direct, ...] = ("identity", "transformation", "aggregation")


@dataclass(frozen=True, order=True, slots=True)
class Input:
    """A column that another one depends on, and how. `relation` is the dotted name of a table or view."""

    relation: str
    column: str
    subtype: Subtype

    @property
    def is_direct(self) -> bool:
        """Whether values are made of it; False: it only decides."""
        return self.subtype in DIRECT


@dataclass(frozen=True, order=True, slots=True)
class Unresolved:
    """What cannot be said: the reason, and the place in the text of the statement; None where that is all of it."""

    reason: str
    span: Span | None = None


@dataclass(frozen=True)
class ColumnLineage:
    """One column of a table, and what writes it. `unresolved`: there may be more inputs than these."""

    column: str
    inputs: tuple[Input, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


@dataclass(frozen=True)
class ClauseLineage:
    """One WHEN clause. `columns` are those that it writes; `conditions` decide whether it acts on a row: its own
    condition, and those of the clauses of its kind before it, which take rows from it."""

    kind: ClauseKind
    action: Action
    span: Span
    columns: tuple[ColumnLineage, ...]
    conditions: tuple[Input, ...]


@dataclass(frozen=True)
class TableLineage:
    """What a MERGE writes into its target, or the rows of a query.

    `rows` decide which rows there are, and with them about every column. `columns` are the table's in its order, as far
    as they are known, also those that nothing writes. `unresolved` is about the rows or the table as a whole. `clauses`
    are those of a MERGE; a column's inputs are the union over them.
    """

    columns: tuple[ColumnLineage, ...]
    rows: tuple[Input, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    clauses: tuple[ClauseLineage, ...] = ()

    def column(self, name: str) -> ColumnLineage | None:
        """The column with this name, where there is one."""
        folded = name.casefold()
        return next((column for column in self.columns if column.column.casefold() == folded), None)

    def inputs(self, column: ColumnLineage) -> tuple[Input, ...]:
        """All that a column depends on: what writes it, and what decides about its rows."""
        return tuple(sorted({*column.inputs, *self.rows}))

    @property
    def all_unresolved(self) -> tuple[Unresolved, ...]:
        """What cannot be said of the table or of one of its columns, each reason and place once."""
        reasons = dict.fromkeys(self.unresolved)
        for column in self.columns:
            reasons.update(dict.fromkeys(column.unresolved))
        return tuple(reasons)


@dataclass(frozen=True)
class Table:
    """What a name in SQL means. `name` is the dotted name that edges have; `complete`: `columns` are all there are.

    `generated` are the expressions of generated columns by the names of these.
    """

    name: str
    columns: tuple[str, ...] = ()
    complete: bool = False
    generated: tuple[tuple[str, str], ...] = field(default=())

    def column_name(self, column: str) -> str:
        """The name of a column as the table has it; where that is not known, as it is given."""
        folded = column.casefold()
        return next((name for name in self.columns if name.casefold() == folded), column)


Lookup = Callable[[tuple[str, ...]], Table | None]
"""Finds a table by the unquoted parts of its name; None where nothing is known of it."""
