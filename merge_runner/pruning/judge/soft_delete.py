"""Whether a row that WHEN NOT MATCHED BY SOURCE marks as gone stays marked when the source has it again."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from merge_runner.lazy_dataclass import dataclass
from merge_runner.merge.statement import Assignment, Clause, MergeStatement
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
    """What a WHEN NOT MATCHED BY SOURCE clause writes, and no matched clause takes back."""

    clause: Clause
    column: str
    assignment: Assignment


def kept_marks(statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts) -> Iterator[KeptMark]:
    """The marks that a row keeps when it is in the source again, though each INSERT writes another value there.

    Left out are columns that ON or a matched clause asks for, and what cannot be read: there the author decides.
    """
    matched = [clause for clause in statement.clauses if clause.kind == "matched"]
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    if not inserts or any(each.action == "delete" or each.star or each.partial for each in matched):
        return
    asked = [*statement.on, *(clause.condition for clause in matched if clause.condition is not None)]
    if any(each.expression is None or scope.side(each.expression) == "unknown" for each in asked):
        return
    trees = [each.expression for each in asked if each.expression is not None]
    decided = {found.column.casefold() for tree in trees for found in scope.columns(tree) if found.side == "target"}
    decided |= {assignment.column[-1].casefold() for clause in matched for assignment in clause.assignments}
    for clause in statement.clauses:
        if clause.kind != "not_matched_by_source" or clause.action != "update":
            continue
        names = {assignment.column[-1].casefold() for assignment in clause.assignments}
        if not names.isdisjoint(decided):
            continue
        for assignment in clause.assignments:
            name = assignment.column[-1]
            values = [inserted_rows(each, statement, layout, scope, source).value(name) for each in inserts]
            if all(_differs(assignment, value, scope) for value in values):
                yield KeptMark(clause, name, assignment)
                break


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
