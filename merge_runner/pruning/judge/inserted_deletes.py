"""Which source rows a MERGE deletes from the target where they match, and inserts where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.pruning.judge.insert_consistency import SOURCE, inserted_rows, on_terms, source_terms
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import condition
from merge_runner.pruning.logic.fold import join_terms, negate_term
from merge_runner.pruning.logic.term import Col, columns, conjuncts, has_opaque
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import SourceFacts


@dataclass(frozen=True)
class InsertedDelete:
    """An INSERT clause that takes rows for which a matched DELETE is meant.

    `whole`: the condition of the DELETE is about the source alone.
    """

    delete: Clause
    insert: Clause
    whole: bool


def inserted_deletes(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[InsertedDelete]:
    """The INSERT clauses that take rows which a DELETE clause picks by the source's columns, as `s.op = 'D'` does.

    Left out are those that ask something of the same columns, or write them into the target: they decide by themselves.
    """
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    if not inserts or not source.readable:
        return
    for delete in statement.clauses:
        tree = delete.condition.expression if delete.condition is not None else None
        if delete.kind != "matched" or delete.action != "delete" or tree is None:
            continue
        parts = conjuncts(condition(tree, on_terms(scope)))
        picked = [part for part in parts if {column.relation for column in columns(part)} == {SOURCE}]
        if not picked or any(has_opaque(part) for part in parts):
            continue
        not_deleted = negate_term(join_terms("and", picked))
        mine = {column for part in picked for column in columns(part)}
        for insert in inserts:
            if _decides(insert, mine, scope):
                break
            rows = inserted_rows(insert, statement, layout, scope, source)
            if rows.facts.implies(not_deleted) is False:
                yield InsertedDelete(delete, insert, len(picked) == len(parts))
                break


def _decides(insert: Clause, mine: set[Col], scope: Scope) -> bool:
    """Whether the clause asks something of these columns, or puts them into the target."""
    resolve = source_terms(scope)
    when = insert.condition
    if when is not None:
        if when.expression is None:
            return True
        own = condition(when.expression, resolve)
        if has_opaque(own) or not mine.isdisjoint(columns(own)):
            return True
    trees = [
        assignment.value.expression for assignment in insert.assignments if assignment.value.expression is not None
    ]
    return any(not mine.isdisjoint(columns(condition(tree, resolve))) for tree in trees)
