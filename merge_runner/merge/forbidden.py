"""What no condition of a MERGE can hold: subqueries, aggregates, window and non-deterministic functions, generators.

Of the last but one, which some formats refuse in USING, too, the calls in a query.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from merge_runner.formats.functions import AGGREGATES, GENERATORS, NON_DETERMINISTIC, WINDOW_ONLY
from merge_runner.merge.expression import unquote
from merge_runner.merge.statement import Expr
from merge_runner.merge.syntax.keywords import LIKES
from merge_runner.merge.syntax.query import is_query
from merge_runner.merge.syntax.sql import COMPARISONS, Sql, tokenize
from merge_runner.text import Span

Sort = Literal["subquery", "aggregate", "window function", "non-deterministic function", "generator"]

_FUNCTIONS: tuple[tuple[frozenset[str], Sort], ...] = (
    (WINDOW_ONLY, "window function"),
    (NON_DETERMINISTIC, "non-deterministic function"),
    (GENERATORS, "generator"),
    (AGGREGATES, "aggregate"),
)
_NO_CALL_AFTER = COMPARISONS | LIKES | {"."}
"""After one of these, `ANY (…)` is a quantifier; after a dot, a name is another function of that name."""


class Forbidden(NamedTuple):
    """One such thing: `name` is the function's, empty for a subquery; `span` is in the statement's text."""

    sort: Sort
    name: str
    span: Span


def forbidden(condition: Expr) -> Iterator[Forbidden]:
    """What Spark refuses in a condition, outermost first; what is inside one of them is not reported again.

    Reads the tokens, so that a condition which sqlglot cannot read is no exception. Functions count by their built-in
    names, where they are not qualified.
    """
    if "(" in condition.text:
        offset = condition.span.start
        for sort, name, span in _of_text(condition.text):
            yield Forbidden(sort, name, Span(offset + span.start, offset + span.end))


def non_deterministic_calls(query: Expr) -> Iterator[Forbidden]:
    """Give the calls of non-deterministic functions in a query, those inside of its subqueries too."""
    if "(" not in query.text:
        return
    sql = tokenize(query.text)
    for i in range(len(sql.tokens)):
        if sql.kind(i) in ("word", "name") and sql.key(i + 1) == "(" and (i == 0 or sql.key(i - 1) != "."):
            name = unquote(sql.word(i)).lower()
            if name in NON_DETERMINISTIC:
                span = sql.span(i, sql.partner[i + 1] + 1)
                start = query.span.start
                yield Forbidden("non-deterministic function", name, Span(start + span.start, start + span.end))


@lru_cache(maxsize=1024)
def _of_text(text: str) -> tuple[Forbidden, ...]:
    """The same of a condition's text, with spans in it: three rules ask."""
    sql = tokenize(text)
    uses = []
    i, stop = 0, len(sql.tokens)
    while i < stop:
        use = _at(sql, i)
        if use is None:
            i += 1
            continue
        sort, name, after = use
        uses.append(Forbidden(sort, name, sql.span(i, after)))
        i = after
    return tuple(uses)


def _at(sql: Sql, i: int) -> tuple[Sort, str, int] | None:
    """What begins at token i, its name, and the index after it."""
    if sql.key(i) == "(":
        close = sql.partner[i]
        return ("subquery", "", close + 1) if is_query(sql, i + 1, close) else None
    if sql.kind(i) not in ("word", "name") or sql.key(i + 1) != "(":
        return None
    before = sql.key(i - 1) if i else ""
    name = unquote(sql.word(i)).lower()
    if before in _NO_CALL_AFTER and (before == "." or name in ("any", "some")):
        return None
    close = sql.partner[i + 1]
    over = _over(sql, close + 1)
    if over is not None:
        return "window function", name, over
    sort = next((sort for names, sort in _FUNCTIONS if name in names), None)
    return (sort, name, close + 1) if sort else None


def _over(sql: Sql, i: int) -> int | None:
    """The index after OVER (…) or OVER w, which may follow FILTER (…) or IGNORE NULLS, at token i; None for others."""
    if sql.key(i) == "FILTER" and sql.key(i + 1) == "(":
        i = sql.partner[i + 1] + 1
    if sql.key(i) in ("IGNORE", "RESPECT") and sql.key(i + 1) == "NULLS":
        i += 2
    if sql.key(i) != "OVER":
        return None
    if sql.key(i + 1) == "(":
        return sql.partner[i + 1] + 1
    return i + 2 if sql.kind(i + 1) in ("word", "name") else None
