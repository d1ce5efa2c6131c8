"""Whether a MERGE into a history opens the new version of a row whose old version it closes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from merge_runner.merge.split import split
from merge_runner.merge.statement import Clause, Conjunct, MergeStatement
from merge_runner.pruning.judge.insert_consistency import (
    SOURCE,
    TARGET,
    EquatedColumns,
    equated_columns,
    inserted_rows,
    inserts_column,
    on_terms,
)
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.constant_value import NULL, Lit
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, has_opaque
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import SourceFacts


def versions_closed_alone(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[Clause]:
    """The UPDATE clauses that close the open version of a changed row, where no INSERT can add its new one.

    ON joins by keys, and it or the clause asks for the open version; an INSERT clause adds open versions, under the
    very keys that ON compares. A source row for a new version has the key of the old one then, matches it, and is not
    inserted.
    """
    updates = [clause for clause in statement.clauses if clause.kind == "matched" and clause.action == "update"]
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    pairs = equated_columns(statement, scope)
    on_tests = _open_tests(_besides(statement, pairs), scope) if updates and inserts and pairs else None
    if on_tests is None or not all(_inserts_key(insert, pair, scope) for insert in inserts for pair in pairs):
        return
    rows = [inserted_rows(insert, statement, layout, scope, source) for insert in inserts]
    for clause in updates:
        own = [] if _updates_in_place(clause, scope) else _tests_of_clause(clause, scope)
        for test in (*on_tests, *own):
            opens = any(inserted.satisfies(test) is True for inserted in rows)
            if opens and _closes(clause, test, scope) and _compares(clause, scope):
                yield clause
                break


def _besides(statement: MergeStatement, pairs: Sequence[EquatedColumns]) -> list[Conjunct]:
    """The conditions of ON besides its keys."""
    equated = {id(pair.conjunct) for pair in pairs}
    return [conjunct for conjunct in statement.on if id(conjunct) not in equated]


def _tests_of_clause(clause: Clause, scope: Scope) -> list[Call]:
    """The conditions of a clause on the target alone by which a version is open."""
    parts = split(clause.condition) if clause.condition is not None else ()
    own = [
        conjunct
        for conjunct in parts
        if conjunct.expression is not None and scope.side(conjunct.expression) == "target"
    ]
    return _open_tests(own, scope) or []


def _updates_in_place(clause: Clause, scope: Scope) -> bool:
    """Whether SET writes what the clause compares: the row gets the new values itself."""
    tree = clause.condition.expression if clause.condition is not None else None
    compared = {ref.column.casefold() for ref in scope.columns(tree)} if tree is not None else set()
    sides = [
        (assignment, scope.side(assignment.value.expression))
        for assignment in clause.assignments
        if assignment.value.expression
    ]
    return any(side == "source" and assignment.column[-1].casefold() in compared for assignment, side in sides)


def _open_tests(tests: Sequence[Conjunct], scope: Scope) -> list[Call] | None:
    """The conditions among these by which a version is open; None where one is about more than the target."""
    open_tests: list[Call] = []
    for conjunct in tests:
        if conjunct.expression is None or scope.side(conjunct.expression) != "target":
            return None
        test = condition(conjunct.expression, on_terms(scope))
        if has_opaque(test):
            return None
        if isinstance(test, Call) and isinstance(test.args[0], Col) and not test.args[0].path:
            single = test.name in ("=", "<=>") and isinstance(test.args[1], Lit)
            open_tests += [test] if single or test.name == "isnull" else []
    return open_tests


def _inserts_key(clause: Clause, pair: EquatedColumns, scope: Scope) -> bool:
    assigned = {assignment.column[-1].casefold() for assignment in clause.assignments}
    return (clause.star or pair.target.casefold() in assigned) and inserts_column(clause, scope, pair)


def _closes(clause: Clause, test: Call, scope: Scope) -> bool:
    """Whether SET writes a value of which the condition is not true."""
    column = test.args[0]
    for assignment in clause.assignments:
        tree = assignment.value.expression
        if tree is None or not isinstance(column, Col) or assignment.column[-1].casefold() != column.name:
            continue
        value = term(tree, on_terms(scope))
        if test.name == "isnull":
            return value is not None and value != NULL and Col(TARGET, column.name) not in columns(value)
        return isinstance(value, Lit) and isinstance(test.args[1], Lit) and _differ(value, test.args[1])
    return False


def _differ(one: Lit, other: Lit) -> bool:
    return one.kind == other.kind and one.kind in ("bool", "number", "text") and one.value != other.value


def _compares(clause: Clause, scope: Scope) -> bool:
    """Whether the clause takes the rows that have changed: it compares target and source, and asks nothing else."""
    tree = clause.condition.expression if clause.condition is not None else None
    if tree is None:
        return False
    parts: list[Term] = list(conjuncts(condition(tree, on_terms(scope))))
    sides = [{column.relation for column in columns(part)} for part in parts]
    return not any(has_opaque(part) for part in parts) and {TARGET, SOURCE} in sides and {SOURCE} not in sides
