"""Whether a row that WHEN NOT MATCHED BY SOURCE marks as gone stays marked when the source has it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.merge.statement import Assignment, Clause, Expr, MergeStatement
from merge_runner.pruning.judge.insert_consistency import inserted_rows, target_terms
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import term
from merge_runner.pruning.logic.constant_value import NULL, Lit
from merge_runner.pruning.logic.term import Term
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import SourceFacts

_CLOCK = (exp.CurrentTimestamp, exp.CurrentDate)


@dataclass(frozen=True)
class KeptMark:
    """What a WHEN NOT MATCHED BY SOURCE clause writes, and no matched clause takes back.

    `unless`: a matched clause does, but under this condition alone, which a row that comes back need not satisfy.
    """

    clause: Clause
    column: str
    assignment: Assignment
    unless: Expr | None = None


def kept_marks(statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts) -> Iterator[KeptMark]:
    """The marks that a row keeps when it is in the source again, though each INSERT writes another value there.

    Left out are columns that ON or a matched clause asks for, and what cannot be read: there the author decides. A
    matched clause for rows that have changed does not take back the mark of a row that comes back as it was.
    """
    matched_clauses = [clause for clause in statement.clauses if clause.kind == "matched"]
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    if not inserts or any(clause.action == "delete" or clause.star or clause.partial for clause in matched_clauses):
        return
    conditions = [*statement.on, *(clause.condition for clause in matched_clauses if clause.condition is not None)]
    if any(condition.expression is None or scope.side(condition.expression) == "unknown" for condition in conditions):
        return
    trees = [condition.expression for condition in conditions if condition.expression is not None]
    deciding = {ref.column.casefold() for tree in trees for ref in scope.columns(tree) if ref.side == "target"}
    detecting = [clause for clause in matched_clauses if _asks_for_change(clause, scope)]
    deciding |= {
        column for clause in matched_clauses if clause not in detecting for column in _assigned_columns(clause)
    }
    for clause in statement.clauses:
        if clause.kind != "not_matched_by_source" or clause.action != "update":
            continue
        names = _assigned_columns(clause)
        if not names.isdisjoint(deciding):
            continue
        unless = next(
            (clause.condition for clause in detecting if not names.isdisjoint(_assigned_columns(clause))), None
        )
        for assignment in clause.assignments:
            name = assignment.column[-1]
            values = [inserted_rows(insert, statement, layout, scope, source).value(name) for insert in inserts]
            if all(_differs(assignment, value, scope) for value in values):
                yield KeptMark(clause, name, assignment, unless)
                break


def _assigned_columns(clause: Clause) -> set[str]:
    return {assignment.column[-1].casefold() for assignment in clause.assignments}


def _asks_for_change(clause: Clause, scope: Scope) -> bool:
    """Whether a clause takes rows alone whose source row has another value than the target's, or a later one."""
    tree = clause.condition.expression if clause.condition is not None else None
    return tree is not None and all(_is_change(leg, scope) for leg in _legs(tree))


def _legs(tree: exp.Expr) -> Iterator[exp.Expr]:
    inner = tree.unnest()
    if isinstance(inner, exp.And | exp.Or):
        for leg in inner.flatten():
            yield from _legs(leg)
    else:
        yield inner


def _is_change(leg: exp.Expr, scope: Scope) -> bool:
    negated = leg.this.unnest() if isinstance(leg, exp.Not) else None
    compares = isinstance(leg, exp.NEQ | exp.NullSafeNEQ | exp.GT | exp.LT | exp.GTE | exp.LTE)
    return scope.side(leg) == "both" and (compares or isinstance(negated, exp.EQ | exp.NullSafeEQ))


def _differs(assignment: Assignment, inserted: Term | None, scope: Scope) -> bool:
    """Whether SET writes a constant, or the time, and INSERT another constant."""
    tree = assignment.value.expression
    if tree is None or not isinstance(inserted, Lit):
        return False
    if isinstance(tree.unnest(), _CLOCK):
        return inserted == NULL
    value = term(tree, target_terms(scope))
    if not isinstance(value, Lit) or value == NULL:
        return False
    return inserted == NULL or (value.kind == inserted.kind and value.value != inserted.value)
