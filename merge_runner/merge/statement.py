"""A MERGE as a value. Every span is a range of `MergeStatement.text`; sqlglot's trees are for reading, not printing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from merge_runner.merge.syntax.forms import FormUse
from merge_runner.text import Span

if TYPE_CHECKING:
    from sqlglot import exp

ClauseKind = Literal["matched", "not_matched", "not_matched_by_source"]
Action = Literal["update", "insert", "delete"]
MergeClass = Literal["insert-only", "matched-only", "delete-only", "general"]


@dataclass(frozen=True)
class Expr:
    """One expression or query of the statement: `text` is the author's, the slice at `span`.

    `expression` is sqlglot's tree, or None where sqlglot cannot read the text or reads something else than Spark
    (opaque). `meta["start"]` and `meta["end"]` (inclusive) of its nodes count from `span.start`, except inside hints.
    `stopped` is the token, in the text that `span` is of, at which a query could not be read.
    """

    span: Span
    text: str
    expression: exp.Expr | None = field(default=None, compare=False, repr=False)
    stopped: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Conjunct(Expr):
    """One of the conditions that ON joins by AND. Parentheses around an AND are opened, around an OR kept."""


@dataclass(frozen=True)
class Cte:
    """A common table expression in front of MERGE: `name (columns) AS (query)`."""

    name: str
    columns: tuple[str, ...]
    query: Expr
    span: Span


@dataclass(frozen=True)
class Target:
    """The table after INTO.

    `parts` are the unquoted parts of its name; empty for `IDENTIFIER(…)` of something that is known at run time only.
    `relation` is the span of the name, `span` that of name and alias.
    """

    parts: tuple[str, ...]
    alias: str | None
    relation: Span
    span: Span

    @property
    def qualifier(self) -> str | None:
        """What its columns are qualified by: the alias, else the last part of the name."""
        return self.alias or (self.parts[-1] if self.parts else None)


@dataclass(frozen=True)
class Source:
    """What follows USING: a table (`parts` as in Target) or a query in parentheses.

    A table with options is both, an opaque query with `parts`: which rows it gives depends on the options.
    `relation` is the span of the name or of the query with its parentheses, `span` that of the relation and its alias.
    """

    kind: Literal["table", "query"]
    parts: tuple[str, ...]
    query: Expr | None
    alias: str | None
    relation: Span
    span: Span

    @property
    def qualifier(self) -> str | None:
        """What its columns are qualified by: the alias, else the last part of the name."""
        return self.alias or (self.parts[-1] if self.parts else None)


@dataclass(frozen=True)
class Assignment:
    """`column = value` of SET, or a column of INSERT with its value. `column` are the unquoted parts of its name."""

    column: tuple[str, ...]
    value: Expr
    span: Span
    """From the column to the value in SET; the column alone in INSERT."""


@dataclass(frozen=True)
class Clause:
    """One WHEN clause. `star` says UPDATE SET * or INSERT *; `assignments` is empty then, and for DELETE.

    `partial`: there are more assignments than these, which are filled in at run time.
    """

    kind: ClauseKind
    action: Action
    star: bool
    condition: Expr | None
    assignments: tuple[Assignment, ...]
    span: Span
    partial: bool = False

    @property
    def expressions(self) -> Iterator[Expr]:
        """Its condition, and the values that it sets or inserts."""
        if self.condition is not None:
            yield self.condition
        yield from (assignment.value for assignment in self.assignments)


@dataclass(frozen=True)
class MergeStatement:
    """A MERGE that Spark's parser takes, judged by its shape.

    `span` is the statement in `text`, from the first word (WITH or MERGE) to the last, without a closing semicolon.
    `on` are the conjuncts of the condition in their order, `on_span` is the whole condition. `more_clauses`: there may
    be more WHEN clauses than these, which are filled in at run time.
    """

    text: str
    span: Span
    target: Target
    source: Source
    on: tuple[Conjunct, ...]
    on_span: Span
    clauses: tuple[Clause, ...]
    schema_evolution: bool = False
    ctes: tuple[Cte, ...] = ()
    recursive: bool = False
    more_clauses: bool = False
    forms: tuple[FormUse, ...] = ()
    """What only newer lines of Spark take, in the order of the text."""

    @property
    def with_span(self) -> Span | None:
        """The span of WITH and its common table expressions; None without any."""
        return Span(self.span.start, self.ctes[-1].span.end) if self.ctes else None

    @property
    def with_text(self) -> str:
        """WITH and its common table expressions, for the start of a query; empty without any."""
        return self.with_span.of(self.text) + "\n" if self.with_span is not None else ""

    @property
    def expressions(self) -> Iterator[Expr]:
        """The conditions of ON, and the expressions of all clauses."""
        yield from self.on
        for clause in self.clauses:
            yield from clause.expressions

    def set_column(self, assignment: Assignment) -> Span:
        """Return where the column is that SET assigns."""
        start = assignment.span.start
        name = self.text[start : assignment.value.span.start].partition("=")[0].rstrip()
        return Span(start, start + len(name))

    @property
    def merge_class(self) -> MergeClass:
        """How the engines treat the statement as a whole; a lone unconditional matched delete is `delete-only`."""
        kinds = {clause.kind for clause in self.clauses}
        if self.more_clauses:
            return "general"
        if kinds == {"not_matched"}:
            return "insert-only"
        if kinds == {"matched"}:
            first = self.clauses[0]
            alone = len(self.clauses) == 1 and first.action == "delete" and first.condition is None
            return "delete-only" if alone else "matched-only"
        return "general"
