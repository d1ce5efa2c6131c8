"""Which source rows a MERGE would match without changing anything: they can be left out of its source.

A row can be left out where it matches rows of the target, no clause applies to any of these matches, and no other row
of the source has its key. A clause applies to a matched pair where its condition is TRUE, not where it is NULL, and no
clause before it applies. What is left out then is neither updated, deleted nor inserted, and no target row of it has
several matches: the MERGE does the same, with the same errors (`tests/pruning/unchanged_rows.yml`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from merge_runner.merge.split import equality_sides
from merge_runner.merge.statement import Clause, Expr, MergeStatement
from merge_runner.pruning.predicate.tautology import assigned
from merge_runner.pruning.runtime_filter.source_determinism import reads_clock, varying
from merge_runner.pruning.runtime_filter.source_pinning import Fixing, named_through_schema
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.pruning.predicate.scope import Scope

Cause = Literal["text", "by-source", "insert-only", "every-row", "keys", "condition", "source", "target"]
"""What a refusal is about."""


@dataclass(frozen=True)
class Refusal:
    """No row can be left out; `reason` says why, for users."""

    cause: Cause
    reason: str


@dataclass(frozen=True)
class EqualSides:
    """An equality of ON between an expression of the source and one of the target, by their spans."""

    source: Span
    target: Span
    null_safe: bool


@dataclass(frozen=True)
class Change:
    """Which matched pairs a clause changes: those that meet its condition (None: all).

    `sets` are the columns of an UPDATE with their values, `star` is UPDATE SET *, where pairs that have these values
    already do not count as changed. None and False: each pair counts.
    """

    condition: Span | None
    sets: tuple[tuple[str, Span], ...] | None = None
    star: bool = False

    @property
    def compares(self) -> bool:
        """Whether values are compared with what the target has."""
        return self.star or self.sets is not None


@dataclass(frozen=True)
class UnchangedRows:
    """How the rows to leave out are found: `changes` are the WHEN MATCHED clauses in their order.

    The source is read several times for it, so that it has to be the same each time: `fixing`.
    """

    keys: tuple[EqualSides, ...]
    changes: tuple[Change, ...]
    fixing: Fixing


def unchanged_rows(merge: JudgedMerge, *, equal_rows: bool = False) -> UnchangedRows | Refusal:
    """Return how the source rows that change nothing are found, or why none can be left out.

    `equal_rows`: an UPDATE that sets what the row has already counts as no change.
    """
    statement = merge.statement
    matched = [clause for clause in statement.clauses if clause.kind == "matched"]
    refusal = _of_shape(statement, matched) or _of_conditions(statement, matched) or _of_tables(merge)
    if refusal is not None:
        return refusal
    changes = tuple(_change(clause, merge.scope, equal_rows=equal_rows) for clause in matched)
    for clause, change in zip(matched, changes, strict=True):
        if change.condition is None and not change.compares:
            compared = clause.action == "update" and not equal_rows
            hint = "; `skip_unchanged: equal_rows` compares what it sets" if compared else ""
            return Refusal("every-row", f"WHEN MATCHED without a condition changes every row that matches{hint}")
    keys = tuple(_keys(merge))
    if not keys:
        return Refusal("keys", "ON has no equality between an expression of the source and one of the target")
    return UnchangedRows(keys, changes, merge.fixing)


def _of_shape(statement: MergeStatement, matched: list[Clause]) -> Refusal | None:
    if statement.more_clauses or any(clause.partial for clause in statement.clauses):
        return Refusal("text", "clauses are filled in at run time")
    if any(clause.kind == "not_matched_by_source" for clause in statement.clauses):
        return Refusal(
            "by-source", "WHEN NOT MATCHED BY SOURCE would take the target rows of what is left out of the source"
        )
    if not matched:
        return Refusal("insert-only", "without WHEN MATCHED nothing is rewritten")
    return None


def _of_conditions(statement: MergeStatement, matched: list[Clause]) -> Refusal | None:
    """Why ON or a condition of WHEN MATCHED cannot be asked for before the MERGE."""
    asked: list[Expr] = [*statement.on, *(clause.condition for clause in matched if clause.condition is not None)]
    for piece in asked:
        text, tree = " ".join(piece.text.split())[:60], piece.expression
        if tree is None:
            return Refusal("condition", f"`{text}` cannot be read")
        if (found := varying(tree)) is not None:
            return Refusal("condition", f"`{text}` has {found}, which may give another value each time")
        if tree.find(exp.Query) is not None:
            return Refusal("condition", f"`{text}` reads a table")
        if reads_clock(piece):
            return Refusal("condition", f"`{text}` reads the clock, or calls a function that is not Spark's")
    return None


def _of_tables(merge: JudgedMerge) -> Refusal | None:
    statement = merge.statement
    if statement.target.qualifier is None:
        return Refusal("target", "the target has neither a plain name nor an alias")
    if named_through_schema(statement, statement.target):
        return Refusal("target", "columns are qualified by the schema of the target: give the target an alias")
    if merge.reads_target:
        return Refusal("source", "the source reads the target")
    if merge.fixing.left_out is not None:
        return Refusal("source", merge.fixing.left_out)
    return None


def _keys(merge: JudgedMerge) -> Iterator[EqualSides]:
    for conjunct in merge.statement.on:
        tree, spans = conjunct.expression, equality_sides(conjunct)
        if spans is None or not isinstance(tree, exp.EQ | exp.NullSafeEQ):
            continue
        sides = merge.scope.side(tree.this), merge.scope.side(tree.expression)
        if set(sides) == {"target", "source"}:
            source, target = (spans[sides.index(side)] for side in ("source", "target"))
            yield EqualSides(source, target, isinstance(tree, exp.NullSafeEQ))


def _change(clause: Clause, scope: Scope, *, equal_rows: bool) -> Change:
    condition = clause.condition.span if clause.condition is not None else None
    if not equal_rows or clause.action != "update":
        return Change(condition)
    if clause.star:
        return Change(condition, star=True)
    sets = []
    for assignment in clause.assignments:
        column = assigned(assignment, scope)
        # A field of a struct that is NULL as a whole: setting it to NULL makes a struct of it.
        if len(column) != 1 or not _is_fixed(assignment.value):
            return Change(condition)
        sets.append((column[0], assignment.value.span))
    return Change(condition, tuple(sets))


def _is_fixed(value: Expr) -> bool:
    """Whether a value is the same when it is computed for the same rows once more."""
    tree = value.expression
    if tree is None or value.text.strip().casefold() == "default":
        return False
    if varying(tree) is not None or tree.find(exp.Query) is not None:
        return False
    return not reads_clock(value)
