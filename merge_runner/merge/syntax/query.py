"""What begins a query, and the shapes that other systems have in a query and Spark refuses."""

from __future__ import annotations

from typing import NamedTuple

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.keywords import SET_OPERATORS
from merge_runner.merge.syntax.sql import Sql

_STARTS = frozenset({"SELECT", "FROM", "WITH", "VALUES", "TABLE", "MAP", "REDUCE"})
_MAX_PARENTHESES = 100
"""Parentheses around a query that are looked through; Spark itself stops at 300 to 500 nested ones."""


class Pattern(NamedTuple):
    """Tokens in a row that Spark refuses in a query.

    A string in `keys` is one key or several with `|` between; `<number>` is any number, `<name>` any word or name.
    """

    keys: tuple[str, ...]
    message: str
    hint: str


PATTERNS = (
    Pattern(("UNION", "BY", "NAME"), "Spark SQL has no UNION BY NAME", "list the columns in one order"),
    Pattern(("UNION", "ALL|DISTINCT", "BY", "NAME"), "Spark SQL has no UNION BY NAME", "list the columns in one order"),
    Pattern(("FETCH", "FIRST|NEXT", "<number>"), "Spark SQL has no FETCH FIRST", "write LIMIT"),
    Pattern(("LIMIT", "<number>", ",", "<number>"), "LIMIT takes one number", "write LIMIT 10 OFFSET 5"),
    Pattern(("CROSS|OUTER", "APPLY", "<name>|("), "Spark SQL has no APPLY", "write LATERAL JOIN, or LATERAL VIEW"),
    Pattern(("AS", "MATERIALIZED", "("), "a CTE cannot be materialized", "write AS ("),
    Pattern(("TABLESAMPLE", "BERNOULLI|SYSTEM"), "TABLESAMPLE requires parentheses", "write TABLESAMPLE (10 PERCENT)"),
    Pattern(("TABLESAMPLE", "(", "<number>", ")"), "TABLESAMPLE wants a unit", "write TABLESAMPLE (10 PERCENT)"),
    Pattern(("FOR", "UPDATE|SHARE", ")"), "Spark SQL locks no rows", "remove it"),
    Pattern(("WITH", "(", "NOLOCK|HOLDLOCK|ROWLOCK|TABLOCK|UPDLOCK|READPAST"), "Spark SQL locks no table", "remove it"),
    Pattern(("SELECT", "TOP", "<number>"), "Spark SQL has no TOP", "write LIMIT after the query"),
    Pattern(("MATCH_RECOGNIZE", "(", "PARTITION|ORDER|MEASURES"), "Spark SQL has no MATCH_RECOGNIZE", "use windows"),
    Pattern(("CONNECT", "BY"), "Spark SQL has no CONNECT BY", "write WITH RECURSIVE"),
    Pattern(
        ("SELECT|,", "*", "REPLACE|RENAME|EXCLUDE", "("), "Spark SQL has no such change of *", "write * EXCEPT (…)"
    ),
    Pattern((".", "*", "REPLACE|RENAME|EXCLUDE", "("), "Spark SQL has no such change of *", "write * EXCEPT (…)"),
)
"""Each is refused by Spark 4.1.4 wherever it appears."""


def is_query(sql: Sql, start: int, stop: int) -> bool:
    """Whether the tokens [start, stop), the inside of parentheses, are a query and no expression.

    VALUES, FROM and the like are also names of columns, so the token after them counts too.
    """
    for _ in range(_MAX_PARENTHESES):
        if start >= stop or sql.key(start) != "(":
            break
        close = sql.partner[start]
        if close + 1 < stop and sql.key(close + 1) not in SET_OPERATORS | {"ORDER", "LIMIT", "SORT", "CLUSTER", "|>"}:
            return False
        start, stop = start + 1, close
    if stop - start < 2 or sql.key(start) not in _STARTS:
        return False
    after = sql.key(start + 1)
    if sql.key(start) == "SELECT":
        return sql.kind(start + 1) != "op" or after in ("(", "*", "-", "+", "~", "!", ":", "?", "/*+")
    if sql.key(start) in ("MAP", "REDUCE"):
        return any(sql.key(i) == "USING" for i in sql.top(start, stop))
    return sql.kind(start + 1) != "op" or after in ("(", "-", ":", "?")


def check_patterns(sql: Sql, start: int, stop: int) -> None:
    """Raises MergeSyntaxError when a pattern that Spark refuses is anywhere in [start, stop)."""
    tokens, last = sql.tokens, len(sql.tokens) - 1
    for i in range(start, stop):
        if tokens[i].key == "/*+" and sql.key(i - 1) not in ("SELECT", "*/"):
            raise MergeSyntaxError("a hint follows SELECT only", sql.at(i), "move it after SELECT")
        for pattern in _BY_SECOND.get(tokens[i + 1].key if i < last else "", ()):
            if all(_fits(sql, i + offset, key) for offset, key in enumerate(pattern.keys)):
                span = sql.span(i, i + len(pattern.keys))
                raise MergeSyntaxError(pattern.message, span, pattern.hint, kind="unsupported")


def _fits(sql: Sql, i: int, pattern_key: str) -> bool:
    if pattern_key in ("(", ")", "*", ",", "."):
        return sql.key(i) == pattern_key
    kind, key = sql.kind(i), sql.key(i)
    for alternative in pattern_key.split("|"):
        if alternative == "<number>":
            if kind == "number":
                return True
        elif alternative == "<name>":
            if kind in ("word", "name"):
                return True
        elif key == alternative:
            return True
    return False


def _by_second() -> dict[str, list[Pattern]]:
    """The patterns by the second key: most first keys are common words, the second ones are rare."""
    index: dict[str, list[Pattern]] = {}
    for pattern in PATTERNS:
        for key in pattern.keys[1].split("|"):
            index.setdefault("" if key == "<number>" else key, []).append(pattern)
    return index


_BY_SECOND = _by_second()
