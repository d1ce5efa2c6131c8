"""Which comparisons of old and new values miss a change from or to NULL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.merge.name_places import names_span
from merge_runner.merge.statement import Clause, Expr, MergeStatement
from merge_runner.pruning.judge.insert_consistency import SOURCE, on_terms
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import term
from merge_runner.pruning.logic.term import Col
from merge_runner.pruning.predicate.scope import ColumnRef, Scope
from merge_runner.pruning.query.source import SourceFacts
from merge_runner.text import Span


@dataclass(frozen=True)
class MissedChange:
    """`t.a <> s.b` in the condition of an UPDATE that sets `a` to `s.b`, of which NULL is a value.

    `span` is that of the comparison; `left` and `right` are the author's texts of its sides.
    """

    clause: Clause
    column: str
    span: Span
    left: str
    right: str


def missed_changes(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[MissedChange]:
    """The comparisons that keep an UPDATE from writing a change from or to NULL.

    Reported where the source's column is known to hold NULL and the target's takes it, and nothing else in the
    conditions of the matched clauses is about the two columns.
    """
    matched_clauses = [clause for clause in statement.clauses if clause.kind == "matched"]
    conditions = [clause.condition for clause in matched_clauses if clause.condition is not None]
    if any(condition.expression is None for condition in conditions):
        return
    uses = Counter(
        ref
        for condition in conditions
        if condition.expression is not None
        for ref in scope.columns(condition.expression)
    )
    for clause in matched_clauses:
        if clause.action != "update" or clause.condition is None or clause.condition.expression is None:
            continue
        for node in _differences(clause.condition.expression):
            left, right = scope.reference(node.this), scope.reference(node.expression)
            sides = {ref.side: ref for ref in (left, right) if ref is not None and len(ref.path) == 1}
            if set(sides) != {"target", "source"}:
                continue
            mine, theirs = sides["target"], sides["source"]
            source_column, target_column = source.column(theirs.column), layout.column(mine.column)
            nullable = (
                source_column is not None
                and source_column.nullable is True
                and (target_column is None or target_column.nullable is not False)
            )
            alone = uses[mine] == uses[theirs] == 1
            texts = _texts(clause.condition, node)
            if nullable and alone and texts is not None and _sets(clause, mine, theirs, scope):
                yield MissedChange(clause, mine.column, *texts)


def _differences(tree: exp.Expr) -> Iterator[exp.NEQ]:
    """The comparisons by `<>` that a condition joins by AND and OR."""
    tree = tree.unnest()
    if isinstance(tree, exp.And | exp.Or):
        for part in tree.flatten():
            yield from _differences(part)
    elif isinstance(tree, exp.NEQ):
        yield tree


def _sets(clause: Clause, mine: ColumnRef, theirs: ColumnRef, scope: Scope) -> bool:
    """Whether the clause writes the source's column into the target's."""
    name, value = mine.column.casefold(), Col(SOURCE, theirs.column.casefold())
    if clause.star:
        return value.name == name
    trees = [
        assignment.value.expression for assignment in clause.assignments if assignment.column[-1].casefold() == name
    ]
    return any(tree is not None and term(tree, on_terms(scope)) == value for tree in trees)


def _texts(condition: Expr, node: exp.NEQ) -> tuple[Span, str, str] | None:
    """Where the comparison is, with the texts of its sides; None where that is not known."""
    left, right = names_span(node.this, 0), names_span(node.expression, 0)
    if left is None or right is None:
        return None
    span = Span(condition.span.start + left.start, condition.span.start + right.end)
    return span, left.of(condition.text), right.of(condition.text)
