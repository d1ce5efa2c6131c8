"""Stops the clock of a statement: what asks for the current date or time becomes a literal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time

from merge_runner.merge.syntax.lexer import Token, lex
from merge_runner.text import Span

_DATES = frozenset({"CURRENT_DATE", "CURDATE"})
_TIMESTAMPS = frozenset({"CURRENT_TIMESTAMP", "NOW", "LOCALTIMESTAMP"})
_ONLY_CALLED = frozenset({"CURDATE", "NOW"})
"""Words that are a column's name where no parentheses follow."""


def stopped_clock(text: str, day: date | None, now: datetime | None) -> Iterator[tuple[Span, str]]:
    """Edits that put literals in place of `current_date`, `current_timestamp` and their other names.

    One of the two is derived from the other where it is None: a statement has one clock. None of both: no edits.
    Times are those of the session's time zone, unless `now` has one. Raises MergeSyntaxError as `lex` does.
    """
    if now is None and day is None:
        return
    now = now or datetime.combine(day or date.min, time())
    day = day or now.date()
    tokens = lex(text)
    for number, token in enumerate(tokens):
        if token.kind != "word" or token.key not in _DATES | _TIMESTAMPS or _is_name(tokens, number):
            continue
        has_parentheses = [following.key for following in tokens[number + 1 : number + 3]] == ["(", ")"]
        if not has_parentheses and token.key in _ONLY_CALLED:
            continue
        end = tokens[number + 2].end if has_parentheses else token.end
        literal = f"DATE'{day.isoformat()}'" if token.key in _DATES else _timestamp(token.key, now)
        yield Span(token.start, end), literal


def _timestamp(key: str, now: datetime) -> str:
    kind = "TIMESTAMP_NTZ" if key == "LOCALTIMESTAMP" else "TIMESTAMP"
    return f"{kind}'{now.isoformat(' ')}'"


def _is_name(tokens: list[Token], number: int) -> bool:
    """Whether the word is an alias, or qualifies a column."""
    before = tokens[number - 1].key if number else ""
    after = tokens[number + 1].key if number + 1 < len(tokens) else ""
    return before in ("AS", ".") or after == "."
