"""Which columns a relation, a subquery or a star of a half-written statement has, and which of them a name means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from merge_runner.graph.graph import ModelNode, Node
from merge_runner.lsp.syntax.relations import Relation, Select, Subject
from merge_runner.pruning.layout.layout import TableLayout
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

    found: tuple[KnownColumn, ...] = ()
    complete: bool = False

    def named(self, name: str) -> KnownColumn | None:
        """Return the column of this name."""
        folded = name.casefold()
        return next((column for column in self.found if column.name.casefold() == folded), None)


NO_COLUMNS = Columns()


def layout_columns(layout: TableLayout) -> Columns:
    """Return the columns of a table that no project declares."""
    columns = (KnownColumn(each.name, str(each.data_type or ""), "", each.nullable) for each in layout.columns or ())
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
            found = self.query_columns(relation.query, here, depth + 1)
            if relation.is_source and not found.complete and here is not None:
                found = _with(found, self.analysed_source(here))
            if relation.columns and len(relation.columns) == len(found.found):
                pairs = zip(relation.columns, found.found, strict=True)
                return Columns(tuple(KnownColumn(name, known.data_type) for name, known in pairs), found.complete)
            return found if not relation.columns else Columns(tuple(map(KnownColumn, relation.columns)), True)
        return self.table_columns(relation.subject, here)

    def query_columns(self, query: Select, here: ModelNode | None, depth: int = 0) -> Columns:
        """Return the columns that a SELECT gives."""
        if depth > _DEEPEST:
            return NO_COLUMNS
        found: list[KnownColumn] = []
        complete = bool(query.outputs)
        for output in query.outputs:
            if output.star:
                inner = self.star_columns(query, output.qualifier, here, depth)
                found += inner.found
                complete = complete and inner.complete
            elif output.name is None:
                complete = False
            else:
                origin = self.column(query, output.qualifier, output.column, here, depth) if output.column else None
                data_type = origin.data_type if origin is not None else ""
                description = origin.description if origin is not None else ""
                found.append(KnownColumn(output.name, data_type, description, None, None, output.span))
        return Columns(tuple(found), complete)

    def star_columns(self, query: Select, qualifier: str | None, here: ModelNode | None, depth: int = 0) -> Columns:
        """Return the columns of `*`, or of `qualifier.*`."""
        if qualifier is not None:
            relation = query.named(qualifier)
            return self.relation_columns(relation, here, depth) if relation is not None else NO_COLUMNS
        parts = [self.relation_columns(relation, here, depth) for relation in query.relations]
        return Columns(tuple(c for part in parts for c in part.found), all(part.complete for part in parts))

    def column(
        self, query: Select, qualifier: str | None, name: str, here: ModelNode | None, depth: int = 0
    ) -> KnownColumn | None:
        """Return the column that a name in a SELECT or MERGE means; None where that is not known."""
        if depth > _DEEPEST:
            return None
        if qualifier is not None:
            relation = self.qualified(query, qualifier, here)
            return self.relation_columns(relation, here, depth).named(name) if relation is not None else None
        for relation in query.visible():
            found = self.relation_columns(relation, here, depth).named(name)
            if found is not None:
                return found
        return None

    def qualified(self, query: Select, qualifier: str, here: ModelNode | None) -> Relation | None:
        """Return the relation of an alias or name."""
        found = query.named(qualifier)
        unnamed = [each for each in query.visible() if each.qualifier is None] if found is None else []
        return found or next((each for each in unnamed if self.is_named(each.subject, qualifier, here)), None)


def _with(written: Columns, analysed: Columns) -> Columns:
    """Return the columns that are written, and those that macros put between them."""
    more = [column for column in analysed.found if column.name and written.named(column.name) is None]
    return Columns((*written.found, *more), analysed.complete)
