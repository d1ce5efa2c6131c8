"""Cuts an expression of a parsed statement further: a condition into its conjuncts, an equality into its sides."""

from __future__ import annotations

from merge_runner.merge.expression import Reader
from merge_runner.merge.statement import Conjunct, Expr
from merge_runner.merge.syntax.grammar import conjuncts
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.sql import COMPARISONS, Sql, tokenize
from merge_runner.text import Span

_EQUALITIES = frozenset({"=", "==", "<=>"})


def split(condition: Expr) -> tuple[Conjunct, ...]:
    """The conditions that AND joins in a condition of WHEN, as ON has its own."""
    sql = tokenize(condition.text)
    reader = Reader(sql, Remarks())
    found = []
    for first, last in conjuncts(sql, 0, len(sql.tokens)):
        span = _moved(sql.span(first, last), condition.span.start)
        found.append(Conjunct(span, sql.span(first, last).of(sql.text), reader.expression(first, last)))
    return tuple(found)


def equality_sides(condition: Conjunct) -> tuple[Span, Span] | None:
    """The spans of both sides of `a = b` or `a <=> b`; None for anything else."""
    sides = comparison_sides(condition)
    return (sides[0], sides[2]) if sides is not None and sides[1] in _EQUALITIES else None


def comparison_sides(condition: Conjunct) -> tuple[Span, str, Span] | None:
    """The spans of both sides of a comparison with its operator between; a conjunct has no parentheses around it.

    `IS NOT DISTINCT FROM` is given as `<=>`. None for anything else.
    """
    sql = tokenize(condition.text)
    stop = len(sql.tokens)
    at = _operator(sql, 0, stop)
    if at is None:
        return None
    first, operator, after = at
    offset = condition.span.start
    return _moved(sql.span(0, first), offset), operator, _moved(sql.span(after, stop), offset)


def _operator(sql: Sql, start: int, stop: int) -> tuple[int, str, int] | None:
    """The index of the only comparison's first token, the operator, and the index after it."""
    top = list(sql.top(start, stop))
    words = [sql.key(i) for i in top]
    if not {"AND", "OR", "!"}.isdisjoint(words) or words[:1] == ["NOT"]:
        return None
    found = [i for i in top if sql.key(i) in COMPARISONS]
    if len(found) == 1 and "NOT" not in words:
        return found[0], sql.key(found[0]), found[0] + 1
    for i in () if found else top:
        if [sql.key(i + ahead) for ahead in range(4)] == ["IS", "NOT", "DISTINCT", "FROM"]:
            return i, "<=>", i + 4
    return None


def _moved(span: Span, offset: int) -> Span:
    return Span(span.start + offset, span.end + offset)
