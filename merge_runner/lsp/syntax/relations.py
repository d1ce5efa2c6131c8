"""What a half-written MERGE reads and by which names: relations, aliases, CTEs, and the columns of its subqueries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from merge_runner.lsp.syntax.tokens import Scanned
from merge_runner.text import Span


@dataclass(frozen=True)
class Subject:
    """What a relation is: `parts` are the names in `ref` or `source`, or those of a table that is named in SQL."""

    kind: Literal["ref", "source", "this", "table", "query", "unknown"]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """A relation of FROM, JOIN, USING or MERGE INTO. `qualifier` is the alias or name by which columns are qualified.

    `name_span` is where that name is written; None: nowhere, as for a target without an alias. `query` is that of a
    subquery or CTE, and `columns` are the names that its alias gives.
    """

    subject: Subject
    qualifier: str | None
    name_span: Span | None
    span: Span
    query: Select | None = None
    columns: tuple[str, ...] = ()
    is_source: bool = False
    """Whether it is what a MERGE has in USING."""


@dataclass(frozen=True)
class Output:
    """An item of a SELECT list. `name` None: it is not known. `star`: `*`, or `qualifier.*`.

    `qualifier` and `column` are those of an item that is a column alone.
    """

    name: str | None
    span: Span
    star: bool = False
    qualifier: str | None = None
    column: str | None = None


@dataclass(eq=False)
class Select:
    """A SELECT, or a MERGE: what it reads. `outer`: the one in which it is nested and whose columns it may name."""

    kind: Literal["select", "merge"]
    span: Span
    outer: Select | None
    ctes: Mapping[str, Relation]
    relations: list[Relation] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    target_lists: list[Span] = field(default_factory=list)
    """In a MERGE: the column lists of INSERT, and the SET clauses."""

    @property
    def target(self) -> Relation | None:
        """The target of a MERGE."""
        return self.relations[0] if self.kind == "merge" and self.relations else None

    def visible(self) -> Iterator[Relation]:
        """Yield the relations whose columns may be named, inner ones first."""
        scope: Select | None = self
        while scope is not None:
            yield from scope.relations
            scope = scope.outer

    def find(self, qualifier: str) -> Relation | None:
        """Return the visible relation of this alias or name."""
        folded = qualifier.casefold()
        return next((relation for relation in self.visible() if (relation.qualifier or "").casefold() == folded), None)


@dataclass(frozen=True)
class Statements:
    """All SELECTs and MERGEs of a text, outer ones first, and its CTEs in their order."""

    scan: Scanned
    selects: tuple[Select, ...]
    ctes: tuple[Relation, ...]

    def at(self, offset: int) -> Select | None:
        """Return the innermost SELECT or MERGE that a cursor is in."""
        inside = [select for select in self.selects if select.span.start <= offset <= select.span.end]
        return min(inside, key=lambda select: select.span.end - select.span.start, default=None)

    @property
    def merge(self) -> Select | None:
        """The first MERGE."""
        return next((select for select in self.selects if select.kind == "merge"), None)
