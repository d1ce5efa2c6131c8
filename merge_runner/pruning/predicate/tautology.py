"""Conditions whose truth is known from the text alone."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlglot import exp

from merge_runner.merge.expression import unquote
from merge_runner.merge.statement import Assignment, Expr
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.grammar import conjuncts
from merge_runner.merge.syntax.sql import Sql, tokenize
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.sql.names import fold


def truth(tree: exp.Expr | None) -> bool | None:
    """True or False where a condition has this value for every row; None for all others, NULL among them.

    Reads TRUE and FALSE, comparisons of two numbers or two strings, and what NOT, AND and OR make of them.
    """
    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    if isinstance(tree, exp.Paren):
        return truth(tree.this)
    if isinstance(tree, exp.Not):
        inner = truth(tree.this)
        return None if inner is None else not inner
    if isinstance(tree, exp.And | exp.Or):
        decisive = isinstance(tree, exp.Or)
        values = [truth(leg) for leg in tree.flatten()]
        if decisive in values:
            return decisive
        return None if None in values else not decisive
    return _comparison(tree)


def _comparison(tree: exp.Expr | None) -> bool | None:
    compare: dict[type[exp.Expr], Callable[[Any, Any], bool]] = {
        exp.EQ: operator.eq,
        exp.NullSafeEQ: operator.eq,
        exp.NEQ: operator.ne,
        exp.LT: operator.lt,
        exp.LTE: operator.le,
        exp.GT: operator.gt,
        exp.GTE: operator.ge,
    }
    compared = compare.get(type(tree)) if tree is not None else None
    if tree is None or compared is None:
        return None
    left, right = tree.this, tree.args.get("expression")
    if not isinstance(left, exp.Literal) or not isinstance(right, exp.Literal) or left.is_string != right.is_string:
        return None
    if left.is_string:
        # Whether strings that differ are equal depends on their collation.
        return compared(left.this, right.this) if left.this == right.this else None
    return compared(Decimal(left.this), Decimal(right.this))


Path = tuple[str, ...]


def assigned(assignment: Assignment, scope: Scope) -> Path:
    """The column, and the fields of structs below it, case folded and without the target's alias or name."""
    reference = scope.resolve(assignment.column)
    # Only the target's columns can be written: what looks like the source's alias is a struct.
    path = reference.path if reference.side == "target" else assignment.column
    return fold(path)


def overlap(one: Path, other: Path) -> bool:
    """Whether writing one also writes the other: they are the same, or one is a field of the other."""
    return all(first == second for first, second in zip(one, other, strict=False))


Words = tuple[tuple[str, str], ...]
"""The tokens of a condition as kind and text; equal words mean the same."""


def conjunct_words(expr: Expr) -> frozenset[Words]:
    """The words of each condition that an expression joins by AND."""
    sql = tokenize(expr.text)
    try:
        ranges = conjuncts(sql, 0, len(sql.tokens))
    except MergeSyntaxError:  # read by itself, a word may be read otherwise than in its clause
        ranges = [(0, len(sql.tokens))]
    return frozenset(_words(sql, start, stop) for start, stop in ranges)


def _words(sql: Sql, start: int, stop: int) -> Words:
    keys = []
    for i in range(start, stop):
        kind, word = sql.kind(i), sql.word(i)
        if kind in ("word", "name"):
            kind, word = "name", unquote(word).casefold()
        keys.append((kind, word))
    return tuple(keys)
