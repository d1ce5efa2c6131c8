"""Whether what two MERGEs say of one target in ON leaves no partition to both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.merge.read_query import read_expression
from merge_runner.merge.statement import Conjunct
from merge_runner.pruning.judge.insert_consistency import inserted_rows, on_terms
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import condition
from merge_runner.pruning.logic.constant_value import Lit
from merge_runner.pruning.logic.fold import negate_term
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Term, columns, conjuncts
from merge_runner.pruning.predicate.scope import Scope

if TYPE_CHECKING:
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge

_ISOLATION = "write.merge.isolation-level"


def partition_conditions(on: tuple[Conjunct, ...], scope: Scope, layout: TableLayout) -> tuple[Term, ...]:
    """The conditions of ON on partition columns of the target alone, those left out that change from day to day."""
    terms: list[Term] = []
    for conjunct in on:
        if conjunct.expression is None or scope.side(conjunct.expression) != "target":
            continue
        for part in conjuncts(condition(conjunct.expression, on_terms(scope))):
            part_columns = list(columns(part))
            if part_columns and all(layout.is_partition(column.name) for column in part_columns) and not _moves(part):
                terms.append(part)
    return tuple(terms)


def are_disjoint(one: tuple[Term, ...], other: tuple[Term, ...]) -> bool:
    """Whether no row satisfies all of both, for certain."""
    # The proof is not symmetric: what one says as a whole has to refute a single condition of the other.
    return _excludes(one, other) or _excludes(other, one)


def keeps_between(merge: JudgedMerge, column: str, start: str, end: str) -> bool:
    """Whether ON restricts a partition column of the target to the values from `start` to before `end`, for certain.

    These are SQL literals; `column` is the column's name as an author writes it.
    """
    facts = Facts(partition_conditions(merge.statement.on, merge.scope, merge.layout))
    qualifier = merge.statement.target.qualifier
    for operator, bound in ((">=", start), ("<", end)):
        tree = read_expression(f"{qualifier}.{column} {operator} {bound}").expression
        if tree is None or facts.implies(condition(tree, on_terms(merge.scope))) is not True:
            return False
    return True


def inserts_stay_apart(merge: JudgedMerge) -> bool:
    """Whether another MERGE, which reads other partitions at the same time, misses no row that this one inserts.

    ON restricts the rows that it reads, not those that it inserts. Where they may be in a partition of the other one,
    its format has to refuse the later of the two commits: each has read what was there before both.
    """
    if not _inserts_unnoticed(merge):
        return True
    statement = merge.statement
    conditions = partition_conditions(statement.on, merge.scope, merge.layout)
    inserts = [
        inserted_rows(clause, statement, merge.layout, merge.scope, merge.source)
        for clause in statement.clauses
        if clause.action == "insert"
    ]
    return all(rows.satisfies(term) is True for rows in inserts for term in conditions)


def _inserts_unnoticed(merge: JudgedMerge) -> bool:
    """Whether it commits though another one has added rows that it has not seen."""
    capabilities = merge.layout.capabilities
    if capabilities is None or capabilities.appends_conflict:
        return False
    isolation = merge.layout.properties.get(_ISOLATION, "")
    return merge.statement.merge_class == "insert-only" or isolation.casefold() == "snapshot"


def _excludes(one: tuple[Term, ...], other: tuple[Term, ...]) -> bool:
    facts = Facts(one)
    return any(facts.implies(negate_term(part)) is True for part in other)


def _moves(term: Term) -> bool:
    """Whether a condition reads the clock: of two MERGEs each reads it at its own time, maybe on another day."""
    if isinstance(term, Call):
        return any(_moves(argument) for argument in term.args)
    return isinstance(term, Lit) and term.moves
