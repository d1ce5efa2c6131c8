"""Says what is wrong with a token that is not allowed where it is in an expression, and what to write instead."""

from __future__ import annotations

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.sql import Sql

_INSTEAD = {
    "SIMILAR": "write RLIKE",
    "GLOB": "write LIKE or RLIKE",
    "ISNULL": "write IS NULL",
    "NOTNULL": "write IS NOT NULL",
    "AT": "write from_utc_timestamp(x, 'zone') or to_utc_timestamp(x, 'zone')",
    "OVERLAPS": "compare the bounds: a.start < b.end AND b.start < a.end",
    "RETURNING": "Spark's MERGE returns no rows",
    "WHERE": "put the condition after WHEN … AND",
    "ORDER": "sort_array(collect_list(x)), or listagg(x) WITHIN GROUP (ORDER BY y)",
    "~": "write RLIKE",
    "->": "write get_json_object(x, '$.k'), or x:k for a variant",
}
"""What to write instead of a word or operator of another system."""

_MISPLACED = {
    "AS": "an expression has no alias here",
    "WHEN": "a clause is WHEN [NOT] MATCHED …; a CASE wants END",
    ">": "write get_json_object(x, '$.k'), or x:k for a variant",
    "BEGIN": "a MERGE is a statement by itself",
}
"""What to do about a word or operator that Spark has in other places."""


def unexpected(sql: Sql, i: int, start: int, *, after_predicate: bool) -> MergeSyntaxError:
    """The error for token i of an expression that begins at token `start`."""
    if sql.key(i) == "/*+":
        return MergeSyntaxError("a hint follows SELECT only", sql.at(i), "remove the + or the hint")
    key = sql.key(i)
    hint = _INSTEAD.get(key)
    foreign = hint is not None or (key == ">" and sql.key(i - 1) == "->")
    hint = hint or _MISPLACED.get(key)
    if key == "[":
        hint, foreign = "write array(…)", True
    elif key == "?" and sql.key(i + 1) == "::":
        hint, foreign = "write try_cast(x AS type)", True
    elif sql.kind(i) == "string" and i > start and sql.key(i - 1) == ".":
        hint = f"quote a name with backquotes: `{sql.word(i)[1:-1]}`"
    elif after_predicate:
        hint = "put the predicate before it in parentheses"
    return MergeSyntaxError(
        f'"{_short(sql.word(i))}" is not allowed here', sql.at(i), hint, kind="unsupported" if foreign else "syntax"
    )


def _short(word: str) -> str:
    return word if len(word) <= 30 else word[:29] + "…"
