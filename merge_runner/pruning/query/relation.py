"""The relations of a SELECT, and what answers for the queries and tables among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.term import Col, Term
from merge_runner.pruning.predicate.expression_type import UNKNOWN, Columns, Typed
from merge_runner.pruning.query.source import SourceFacts


@dataclass(frozen=True)
class Relation:
    """One table, view or subquery of FROM. `names` are what qualifies its columns, case folded."""

    number: int
    names: tuple[tuple[str, ...], ...]
    facts: SourceFacts
    nullable: bool = False
    """An outer join may fill its columns with NULL."""
    visible: bool = True
    """Its columns are rows' columns: not so after a semi or anti join."""
    versioned: bool = False
    """It is read as of an older version, which may have had other columns."""
    table: tuple[str, ...] = ()
    """The case folded parts of its name where it is all rows of a table, view or CTE."""

    def column(self, name: str) -> Col:
        """The term of a column, or of a field as keys name it (`field_name`)."""
        column, *path = name.casefold().split(_FIELD)
        return Col(self.number, column, tuple(path))

    def typed(self, name: str) -> Typed:
        """The type of a column."""
        column = self.facts.column(name)
        if column is None:
            return UNKNOWN
        return Typed(column.data_type, True if self.nullable else column.nullable)

    def lifted(self, item: Term) -> Term:
        """A condition on its own columns, as one on the joined rows."""
        return replaced(item, lambda part: replace_column(part, self.number))


_FIELD = "\1"
"""Between a column and a field of it in the parts of a key: in no name."""


def field_name(column: Col) -> str:
    """Return what a key calls a column, or a field of a struct."""
    return _FIELD.join((column.name, *column.path))


def replace_column(part: Term, number: int) -> Term | None:
    """An output column as a column of the relation with that number."""
    return Col(number, part.name, part.path) if isinstance(part, Col) and part.relation == 0 else None


def whole_table(node: exp.Table) -> tuple[str, ...]:
    """Return the case folded parts of a name in FROM; none where what follows it may leave rows out."""
    others = {key for key, value in node.args.items() if value} - {"this", "db", "catalog", "alias", "joins"}
    return () if others or not isinstance(node.this, exp.Identifier) else tuple(p.name.casefold() for p in node.parts)


@dataclass(frozen=True)
class ComparedJoin:
    """A LEFT or ANTI join: `relation` is what is joined by the conditions `on`."""

    relation: Relation
    on: tuple[Term, ...]
    anti: bool


@dataclass(frozen=True)
class ReadSelect:
    """A SELECT of the source query with the relations of its FROM and joins."""

    select: exp.Select
    relations: tuple[Relation, ...]
    typed: Columns
    """The type of a column's node in the SELECT."""
    star: Callable[[Sequence[str]], Iterator[tuple[Relation, TableColumn | None]]]
    """The columns of `*`, or of `a.*`; None where it is not known which."""


class Queries(Protocol):
    """What answers for the queries and tables that a SELECT reads."""

    def facts(self, node: exp.Expr | None) -> SourceFacts:
        """Return what is known of the rows of a query; nothing where its tree is None."""

    def subquery_facts(self, node: exp.Expr | None) -> SourceFacts:
        """Return what is known of the rows of a subquery in an expression, which sees the names around it too."""

    def table(self, parts: Sequence[str]) -> SourceFacts:
        """Return what is known of the rows of a table, view or CTE, given the unquoted parts of its name."""

    def record(self, read: ReadSelect) -> None:
        """Keep a SELECT that was read."""
