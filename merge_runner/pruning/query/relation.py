"""The relations of a SELECT, and what answers for the queries and tables among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sqlglot import exp

from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.term import Col, Term
from merge_runner.pruning.predicate.expression_type import UNKNOWN, Columns, Typed
from merge_runner.pruning.query.source import SourceFacts
from merge_runner.sql import scope
from merge_runner.sql.from_clause import FromItem
from merge_runner.sql.names import fold

Relation: TypeAlias = scope.Relation[SourceFacts]
"""One table, view or subquery of FROM, with what is known of its rows."""
Scope: TypeAlias = scope.Scope[SourceFacts, exp.Expr]
"""The names of a SELECT; an item of its list is kept as its tree."""
Resolution: TypeAlias = scope.Resolution[SourceFacts, exp.Expr]


_FIELD = "\1"
"""Between a column and a field of it in the parts of a key: in no name."""


def column_of(relation: Relation, name: str) -> Col:
    """The term of a column, or of a field as keys name it (`field_name`)."""
    column, *path = name.casefold().split(_FIELD)
    return Col(relation.number, column, tuple(path))


def type_of(relation: Relation, name: str) -> Typed:
    """The type of a column of a relation."""
    column = relation.rows.column(name)
    if column is None:
        return UNKNOWN
    return Typed(column.data_type, True if relation.is_nullable else column.nullable)


def lifted(item: Term, relation: Relation) -> Term:
    """A condition on the columns of a relation, as one on the joined rows."""
    return replaced(item, lambda part: _with_number(part, relation.number))


def field_name(column: Col) -> str:
    """Return what a key calls a column, or a field of a struct."""
    return _FIELD.join((column.name, *column.path))


def _with_number(part: Term, number: int) -> Term | None:
    return Col(number, part.name, part.path) if isinstance(part, Col) and part.relation == 0 else None


def whole_table(item: FromItem, queries: Queries) -> tuple[str, ...]:
    """Return the case folded parts of a table's or view's name in FROM; none for a CTE, and where rows are left out."""
    others = {key for key, value in item.node.args.items() if value} - {"this", "db", "catalog", "alias", "joins"}
    return () if item.kind != "table" or others or queries.is_cte(item.parts) else fold(item.parts)


@dataclass(frozen=True)
class ComparedJoin:
    """A LEFT or ANTI join: `relation` is what is joined by the conditions `on`.

    `table` are the case folded parts of its name where it is all rows of a table or view.
    """

    relation: Relation
    table: tuple[str, ...]
    on: tuple[Term, ...]
    anti: bool


@dataclass(frozen=True)
class ReadSelect:
    """A SELECT of the source query with the names that it sees."""

    select: exp.Select
    scope: Scope
    typed: Columns
    """The type of a column's node in the SELECT."""
    star: Callable[[Sequence[str]], Iterator[StarColumn]]
    """The columns of `*`, or of `a.*`."""
    resolve: Callable[[exp.Expr], Term | None]
    """The term of a column's node in WHERE and ON; None where it is not known which column that is."""


@dataclass(frozen=True)
class StarColumn:
    """A column that a star gives, as a term of the joined rows; `column` None: more of `relation`, not known which."""

    relation: Relation | None
    column: TableColumn | None
    term: Term | None = None


class Queries(Protocol):
    """What answers for the queries and tables that a SELECT reads."""

    def facts(self, node: exp.Expr | None) -> SourceFacts:
        """Return what is known of the rows of a query; nothing where its tree is None."""

    def subquery_facts(self, node: exp.Expr | None) -> SourceFacts:
        """Return what is known of the rows of a subquery in an expression, which sees the names around it too."""

    def is_cte(self, parts: Sequence[str]) -> bool:
        """Whether a name in FROM means a CTE."""

    def table(self, parts: Sequence[str]) -> SourceFacts:
        """Return what is known of the rows of a table, view or CTE, given the unquoted parts of its name."""

    def record(self, read: ReadSelect) -> None:
        """Keep a SELECT that was read."""
