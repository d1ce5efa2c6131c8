"""What ties target and source together in ON: equalities between an expression of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.merge.split import equality_sides
from merge_runner.merge.statement import Conjunct
from merge_runner.pruning.predicate.scope import ColumnRef, Scope
from merge_runner.pruning.predicate.tautology import truth
from merge_runner.text import Span


@dataclass(frozen=True)
class JoinKey:
    """A conjunct `t.k = s.k` (or `<=>`): a column of the target by itself, and an expression of the source alone.

    `source_span` is that of the expression in the statement.
    """

    conjunct: Conjunct
    column: ColumnRef
    source: exp.Expr
    null_safe: bool
    source_span: Span


def join_keys(on: tuple[Conjunct, ...], scope: Scope) -> Sequence[JoinKey]:
    """The keys among the conjuncts of ON; an equality whose sides are not certain is none."""
    return scope.once(_join_keys, on, scope)


def _join_keys(on: tuple[Conjunct, ...], scope: Scope) -> Sequence[JoinKey]:
    keys: list[JoinKey] = []
    for conjunct in on:
        tree = conjunct.expression
        while isinstance(tree, exp.Paren):
            tree = tree.this
        if not isinstance(tree, exp.EQ | exp.NullSafeEQ):
            continue
        spans = equality_sides(conjunct)
        if spans is None:
            continue
        for one, other, span in ((tree.this, tree.expression, spans[1]), (tree.expression, tree.this, spans[0])):
            column = scope.reference(one.unnest())
            if column is not None and column.side == "target" and scope.side(other) == "source":
                keys.append(JoinKey(conjunct, column, other.unnest(), isinstance(tree, exp.NullSafeEQ), span))
    return keys


def target_sides(on: tuple[Conjunct, ...], scope: Scope) -> Iterator[Span]:
    """Where ON says what of the target is equal to something of the source: the spans of the target's sides."""
    for target, _, _ in _equalities(on, scope):
        yield target


def source_sides(on: tuple[Conjunct, ...], scope: Scope) -> Iterator[tuple[Span, bool]]:
    """The spans of the source's sides of the same equalities, each with whether it is `<=>`, which NULLs pass."""
    for _, source, null_safe in _equalities(on, scope):
        yield source, null_safe


def _equalities(on: tuple[Conjunct, ...], scope: Scope) -> Iterator[tuple[Span, Span, bool]]:
    """The spans of the target's and of the source's side of each equality between them, and whether it is `<=>`."""
    for conjunct in on:
        tree, spans = conjunct.expression, equality_sides(conjunct)
        while isinstance(tree, exp.Paren):
            tree = tree.this
        if spans is None or not isinstance(tree, exp.EQ | exp.NullSafeEQ):
            continue
        sides = scope.side(tree.this), scope.side(tree.expression)
        if sides in (("target", "source"), ("source", "target")):
            yield spans[sides.index("target")], spans[sides.index("source")], isinstance(tree, exp.NullSafeEQ)


def is_tied(on: tuple[Conjunct, ...], scope: Scope) -> bool | None:
    """Whether ON ties target and source by an equality between an expression of each; None where that is unknown.

    It may be at the top of ON, or in every leg of an OR. A condition that is never true ties as well: it joins no
    rows at all.
    """
    return scope.once(_is_tied, on, scope)


def _is_tied(on: tuple[Conjunct, ...], scope: Scope) -> bool | None:
    return _any([_tied(conjunct.expression, scope) for conjunct in on])


def is_never(on: tuple[Conjunct, ...]) -> bool:
    """Return whether the text alone makes ON false or NULL for every pair of rows: they never match."""
    for conjunct in on:
        tree = conjunct.expression.unnest() if conjunct.expression is not None else None
        if isinstance(tree, exp.Null) or truth(tree) is False:
            return True
    return False


def _any(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _tied(tree: exp.Expr | None, scope: Scope) -> bool | None:
    if isinstance(tree, exp.Paren):
        return _tied(tree.this, scope)
    if isinstance(tree, exp.Or):
        return _all([_tied(leg, scope) for leg in tree.flatten()])
    if isinstance(tree, exp.And):
        legs = list(tree.flatten())
        return True if _both_null(legs, scope) else _any([_tied(leg, scope) for leg in legs])
    if tree is None or tree.find(exp.Query) is not None:
        return None
    constant = False if isinstance(tree, exp.Null) else truth(tree)
    return _predicate(tree, scope) if constant is None else not constant


def _predicate(tree: exp.Expr, scope: Scope) -> bool | None:
    if isinstance(tree, exp.EQ | exp.NullSafeEQ):
        return _joins(scope, tree.this, tree.expression)
    if isinstance(tree, exp.In) and tree.expressions:
        return _all([_joins(scope, tree.this, item) for item in tree.expressions])
    compared = isinstance(tree, exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE | exp.Between)
    side = scope.side(tree)
    if side == "both":
        return False if compared else None  # a function of both sides may well compare them
    return None if side == "unknown" else False


def _joins(scope: Scope, one: exp.Expr, other: exp.Expr) -> bool | None:
    sides = {scope.side(one), scope.side(other)}
    if sides == {"target", "source"}:
        return True
    # A comparison of something that is made of both sides, as in `t.a - s.a = 0`, ties in its own way.
    return None if sides & {"unknown", "both"} else False


def _both_null(legs: list[exp.Expr], scope: Scope) -> bool:
    """Whether a column of each side is to be NULL: with `t.k = s.k OR …` in front, that is `t.k <=> s.k`."""
    sides = {
        scope.side(leg.this)
        for leg in (leg.unnest() for leg in legs)
        if isinstance(leg, exp.Is) and isinstance(leg.expression, exp.Null)
    }
    return sides >= {"target", "source"}
