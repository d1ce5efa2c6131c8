"""Conditions of WHEN that no row satisfies: by themselves, together, or where ON holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from merge_runner.merge.split import split
from merge_runner.merge.statement import Clause, Conjunct, MergeStatement
from merge_runner.pruning.judge.insert_consistency import on_terms, source_terms, target_terms
from merge_runner.pruning.logic.canonical import condition
from merge_runner.pruning.logic.constant_value import NULL, Lit
from merge_runner.pruning.logic.fold import negate_term
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Term, conjuncts, has_opaque
from merge_runner.pruning.predicate.scope import Scope

Cause = Literal["constant", "null", "itself", "conditions", "on"]
_MAX_CONDITIONS = 40
"""How many conditions are held against each other: every leg of an OR counts. More are not looked at."""
_TERMS = {"matched": on_terms, "not_matched": source_terms, "not_matched_by_source": target_terms}


@dataclass(frozen=True)
class DeadClause:
    """A clause that takes no row, and the condition that is never true there.

    `cause`: it is a `constant`; it compares with `null`; it contradicts `itself`, the other `conditions` of the clause,
    or `on`.
    """

    clause: Clause
    conjunct: Conjunct
    cause: Cause


def dead_clauses(
    statement: MergeStatement, scope: Scope, varies: Callable[[exp.Expr], bool] = lambda tree: False
) -> Iterator[DeadClause]:
    """The clauses whose condition is FALSE or NULL for every row that reaches them.

    `varies` says of a condition that it is another one in another run, so that it proves nothing.
    """
    conditions = [(clause, clause.condition) for clause in statement.clauses if clause.condition is not None]
    if not conditions:
        return
    on = [
        condition(tree, on_terms(scope))
        for conjunct in statement.on
        if (tree := conjunct.expression) is not None and not varies(tree)
    ]
    if _contradiction(on, on) is not None:
        on = []  # nothing matches, on purpose or not
    for clause, when in conditions:
        parts = [part for part in split(when) if part.expression is not None and not varies(part.expression)]
        resolve = _TERMS[clause.kind](scope)
        terms = [condition(conjunct.expression, resolve) for conjunct in parts if conjunct.expression is not None]
        dead = _dead(parts, terms, on if clause.kind == "matched" else [])
        if dead is not None:
            yield DeadClause(clause, *dead)


def _dead(parts: Sequence[Conjunct], terms: Sequence[Term], on: Sequence[Term]) -> tuple[Conjunct, Cause] | None:
    """The first condition that is never true, by the nearest cause."""
    for part, own in zip(parts, terms, strict=True):
        if isinstance(own, Lit) and own.kind in ("bool", "null") and not own.value:
            return part, "null" if _compares_with_null(part.expression) else "constant"
        if _is_not_in_null(part.expression):
            return part, "null"
    for part, own in zip(parts, terms, strict=True):
        if _contradiction([own], [own]) is not None:
            return part, "itself"
    if len(terms) > 1 and (last := _contradiction(terms, terms)) is not None:
        return parts[last], "conditions"
    if on and (last := _contradiction([*on, *terms], terms)) is not None:
        return parts[last], "on"
    return None


def _contradiction(facts_of_row: Sequence[Term], conditions: Sequence[Term]) -> int | None:
    """The index of the last of the conditions, which are all among the known ones, that is never true with these."""
    if sum(len(_legs(term)) for term in facts_of_row) > _MAX_CONDITIONS:
        return None
    facts = Facts(facts_of_row)
    for index in reversed(range(len(conditions))):
        term = conditions[index]
        legs = _legs(term)
        if legs == (term,):
            is_dead = _is_dead(facts, term)
        else:
            is_dead = all(_is_dead(Facts([*facts_of_row, *conjuncts(leg)]), leg) for leg in legs)
        if is_dead:
            return index
    return None


def _legs(part: Term) -> tuple[Term, ...]:
    return part.args if isinstance(part, Call) and part.name == "or" else (part,)


def _is_dead(facts: Facts, term: Term) -> bool:
    """Whether facts that the condition itself is one of make it false: it cannot be true then."""
    if isinstance(term, Lit) or has_opaque(term):
        return term == NULL
    return facts.implies(negate_term(term)) is True


def _compares_with_null(tree: exp.Expr | None) -> bool:
    tree = tree.unnest() if tree is not None else None
    return tree is not None and any(isinstance(operand, exp.Null) for operand in tree.iter_expressions())


def _is_not_in_null(tree: exp.Expr | None) -> bool:
    """Whether it is `x NOT IN (…, NULL)`, which is FALSE or NULL."""
    inner = tree.this.unnest() if isinstance(tree := tree.unnest() if tree is not None else None, exp.Not) else None
    return isinstance(inner, exp.In) and any(isinstance(item.unnest(), exp.Null) for item in inner.expressions)
