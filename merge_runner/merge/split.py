"""Cuts an expression of a parsed statement further: a condition into its conjuncts, an equality into its sides."""

from __future__ import annotations

from functools import lru_cache

from merge_runner.merge.expression import Reader, may_share
from merge_runner.merge.statement import Conjunct, Expr
from merge_runner.merge.syntax.grammar import conjuncts
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.sql import COMPARISONS, Sql, tokenize
from merge_runner.text import Span

_EQUALITIES = frozenset({"=", "==", "<=>"})


def split(condition: Expr) -> tuple[Conjunct, ...]:
    """The conditions that AND joins in a condition of WHEN, as ON has its own."""
    offset, text = condition.span.start, condition.text
    parts = _parts_of_text(text) if may_share(text) else _parts_of_text.__wrapped__(text)
    return tuple(Conjunct(_moved(part.span, offset), part.text, part.expression) for part in parts)


@lru_cache(maxsize=1024)
def _parts_of_text(text: str) -> tuple[Conjunct, ...]:
    """The conjuncts of a condition, whose spans count from its beginning."""
    sql = tokenize(text)
    reader = Reader(sql, Remarks())
    parts = []
    for first, last in conjuncts(sql, 0, len(sql.tokens)):
        span = sql.span(first, last)
        parts.append(Conjunct(span, span.of(text), reader.expression(first, last)))
    return tuple(parts)


def equality_sides(condition: Conjunct) -> tuple[Span, Span] | None:
    """The spans of both sides of `a = b` or `a <=> b`; None for anything else."""
    sides = comparison_sides(condition)
    return (sides[0], sides[2]) if sides is not None and sides[1] in _EQUALITIES else None


def comparison_sides(condition: Conjunct) -> tuple[Span, str, Span] | None:
    """The spans of both sides of a comparison with its operator between; a conjunct has no parentheses around it.

    `IS NOT DISTINCT FROM` is given as `<=>`. None for anything else.
    """
    sides = _sides_of_text(condition.text)
    if sides is None:
        return None
    offset = condition.span.start
    return _moved(sides[0], offset), sides[1], _moved(sides[2], offset)


@lru_cache(maxsize=1024)
def _sides_of_text(text: str) -> tuple[Span, str, Span] | None:
    """The sides of a comparison, whose spans count from its beginning: rules ask for the same few."""
    sql = tokenize(text)
    stop = len(sql.tokens)
    at = _operator(sql, 0, stop)
    if at is None:
        return None
    first, operator, after = at
    return sql.span(0, first), operator, sql.span(after, stop)


def _operator(sql: Sql, start: int, stop: int) -> tuple[int, str, int] | None:
    """The index of the only comparison's first token, the operator, and the index after it."""
    top = list(sql.top(start, stop))
    words = [sql.key(i) for i in top]
    if not {"AND", "OR", "!"}.isdisjoint(words) or words[:1] == ["NOT"]:
        return None
    comparisons = [i for i in top if sql.key(i) in COMPARISONS]
    if len(comparisons) == 1 and "NOT" not in words:
        return comparisons[0], sql.key(comparisons[0]), comparisons[0] + 1
    for i in () if comparisons else top:
        if [sql.key(i + ahead) for ahead in range(4)] == ["IS", "NOT", "DISTINCT", "FROM"]:
            return i, "<=>", i + 4
    return None


def _moved(span: Span, offset: int) -> Span:
    return Span(span.start + offset, span.end + offset)
