"""Which columns a relation, a subquery or a star of a half-written statement has, and which of them a name means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from merge_runner.graph.graph import ModelNode, Node
from merge_runner.lsp.syntax.relations import Relation, Select, Subject
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.sql.names import qualifiers
from merge_runner.sql.scope import Ambiguous, ColumnOf, Possible, Scope
from merge_runner.sql.scope import Relation as ScopeRelation
from merge_runner.text import Span

_DEEPEST = 20
"""Subqueries in subqueries, of which the columns are followed."""


@dataclass(frozen=True)
class KnownColumn:
    """A column: its type as Spark writes it, "" where that is not known, and what YAML says that it is.

    `node` is the model, seed or source that has it; None for a column that a query computes, which is at `span`.
    """

    name: str
    data_type: str = ""
    description: str = ""
    nullable: bool | None = None
    node: Node | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Columns:
    """Columns of a relation; `complete`: there are no others."""

    items: tuple[KnownColumn, ...] = ()
    complete: bool = False

    def find(self, name: str) -> KnownColumn | None:
        """Return the column of this name."""
        folded = name.casefold()
        return next((column for column in self.items if column.name.casefold() == folded), None)


NO_COLUMNS = Columns()


@dataclass(frozen=True)
class _Rows:
    """The columns of a relation, which are looked up when a name may mean one of them."""

    look_up: Callable[[], Columns]

    @cached_property
    def columns(self) -> Columns:
        return self.look_up()

    def find(self, name: str) -> KnownColumn | None:
        return self.columns.find(name)

    def has_column(self, name: str) -> bool | None:
        return self.find(name) is not None or (False if self.columns.complete else None)

    def has_field(self, column: str, name: str) -> bool | None:
        return None  # types are texts here

    def column_names(self) -> list[str]:
        return [column.name for column in self.columns.items]

    @property
    def names_known(self) -> bool:
        return self.columns.complete


def layout_columns(layout: TableLayout) -> Columns:
    """Return the columns of a table that no project declares."""
    columns = (
        KnownColumn(column.name, str(column.data_type or ""), "", column.nullable) for column in layout.columns or ()
    )
    return Columns(tuple(columns), layout.complete)


class QueryColumns(ABC):
    """Finds columns in statements of the model `here`, or of no model; what tables have, a subclass knows."""

    @abstractmethod
    def table_columns(self, subject: Subject, here: ModelNode | None) -> Columns:
        """Return the columns of a table or view."""

    @abstractmethod
    def node(self, subject: Subject, here: ModelNode | None) -> Node | None:
        """Return the model, seed or source that a relation is; None for another one, and for a query."""

    @abstractmethod
    def is_named(self, subject: Subject, qualifier: str, here: ModelNode | None) -> bool:
        """Whether a table without an alias has this name."""

    def analysed_source(self, here: ModelNode) -> Columns:
        """Return what more is known of the source of a model's MERGE than its text says."""
        return NO_COLUMNS

    def relation_columns(self, relation: Relation, here: ModelNode | None, depth: int = 0) -> Columns:
        """Return the columns of a relation."""
        if relation.query is not None:
            columns = self.query_columns(relation.query, here, depth + 1)
            if relation.is_source and not columns.complete and here is not None:
                columns = _with(columns, self.analysed_source(here))
            if relation.columns and len(relation.columns) == len(columns.items):
                pairs = zip(relation.columns, columns.items, strict=True)
                return Columns(tuple(KnownColumn(name, column.data_type) for name, column in pairs), columns.complete)
            return columns if not relation.columns else Columns(tuple(map(KnownColumn, relation.columns)), True)
        return self.table_columns(relation.subject, here)

    def query_columns(self, query: Select, here: ModelNode | None, depth: int = 0) -> Columns:
        """Return the columns that a SELECT gives."""
        if depth > _DEEPEST:
            return NO_COLUMNS
        columns: list[KnownColumn] = []
        complete = bool(query.outputs)
        for output in query.outputs:
            if output.star:
                inner = self.star_columns(query, output.qualifier, here, depth)
                columns += inner.items
                complete = complete and inner.complete
            elif output.name is None:
                complete = False
            else:
                origin = self.column(query, output.qualifier, output.column, here, depth) if output.column else None
                data_type = origin.data_type if origin is not None else ""
                description = origin.description if origin is not None else ""
                columns.append(KnownColumn(output.name, data_type, description, None, None, output.span))
        return Columns(tuple(columns), complete)

    def star_columns(self, query: Select, qualifier: str | None, here: ModelNode | None, depth: int = 0) -> Columns:
        """Return the columns of `*`, or of `qualifier.*`."""
        if qualifier is not None:
            relation = query.find(qualifier)
            return self.relation_columns(relation, here, depth) if relation is not None else NO_COLUMNS
        parts = [self.relation_columns(relation, here, depth) for relation in query.relations]
        return Columns(tuple(c for part in parts for c in part.items), all(part.complete for part in parts))

    def column(
        self, query: Select, qualifier: str | None, name: str, here: ModelNode | None, depth: int = 0
    ) -> KnownColumn | None:
        """Return the column that a name in a SELECT or MERGE means; None where that is not known."""
        if depth > _DEEPEST:
            return None
        parts = (name,) if qualifier is None else (qualifier, name)
        match self._scope(query, qualifier, here, depth).resolve(parts):
            case ColumnOf(relation, (column,)):
                return relation.rows.find(column)
            case Ambiguous(columns) | Possible(columns):
                return columns[0].relation.rows.find(name)
        return None

    def _scope(self, query: Select, qualifier: str | None, here: ModelNode | None, depth: int) -> Scope[_Rows, None]:
        """The names that a SELECT or MERGE sees; `qualifier` names the table without an alias that has this name."""
        scope: Scope[_Rows, None] = Scope(
            outer=self._scope(query.outer, qualifier, here, depth) if query.outer else None
        )
        for relation in query.relations:
            name = relation.qualifier
            if name is None and qualifier is not None and self.is_named(relation.subject, qualifier, here):
                name = qualifier
            rows = _Rows(partial(self.relation_columns, relation, here, depth))
            scope.relations.append(ScopeRelation(qualifiers(name, ()), rows))
        return scope

    def qualified(self, query: Select, qualifier: str, here: ModelNode | None) -> Relation | None:
        """Return the relation of an alias or name."""
        relation = query.find(qualifier)
        unnamed = (
            [candidate for candidate in query.visible() if candidate.qualifier is None] if relation is None else []
        )
        return relation or next(
            (candidate for candidate in unnamed if self.is_named(candidate.subject, qualifier, here)), None
        )


def _with(columns: Columns, analysed: Columns) -> Columns:
    """Return the columns that are written, and those that macros put between them."""
    more = [column for column in analysed.items if column.name and columns.find(column.name) is None]
    return Columns((*columns.items, *more), analysed.complete)
