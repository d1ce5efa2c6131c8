"""Which literals Spark's parser refuses for their value: dates that are none, numbers that do not fit."""

from __future__ import annotations

import re
from datetime import date

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.keywords import DAY_UNITS, MONTH_UNITS, TYPED_LITERALS
from merge_runner.merge.syntax.sql import Sql

_LIMITS = {"Y": 1 << 7, "S": 1 << 15, "L": 1 << 63}
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_SPECIAL = frozenset({"epoch", "now", "today", "tomorrow", "yesterday"})
_MAX_DIGITS = 38


def check_number(sql: Sql, i: int) -> None:
    """Raises MergeSyntaxError when the number at token i does not fit its suffix."""
    word = sql.word(i).upper()
    limit = _LIMITS.get(word[-1])
    if limit is not None and word[:-1].isdecimal():
        negative = i > 0 and sql.key(i - 1) == "-"
        if int(word[:-1]) > (limit if negative else limit - 1):
            raise MergeSyntaxError(f"{sql.word(i)} is out of range", sql.at(i), f"at most {limit - 1}{word[-1]}")
    elif word.endswith("BD"):
        if sum(char.isdecimal() for char in word.split("E")[0]) > _MAX_DIGITS:
            raise MergeSyntaxError("the decimal has too many digits", sql.at(i), f"at most {_MAX_DIGITS}")
    elif "E" in word and float(word.rstrip("FD")) == float("inf"):
        raise MergeSyntaxError(f"{sql.word(i)} is out of range", sql.at(i))


def check_typed(sql: Sql, i: int) -> None:
    """Raises MergeSyntaxError when the word at token i is not allowed before a string, or the string is no such."""
    key, value = sql.key(i), sql.word(i + 1)[1:-1]
    whole = sql.span(i, i + 2)
    if key not in TYPED_LITERALS:
        hint = "write the string without it"
        raise MergeSyntaxError(f"{sql.word(i)} is no type of a literal", whole, hint, kind="unsupported")
    if key == "INTERVAL":
        if value.strip().isdecimal():
            raise MergeSyntaxError("the interval has no unit", whole, f"as in INTERVAL '{value.strip()}' DAY")
        return
    if key == "X" or "\\" in value:
        return
    day = _DAY.match(value.strip())
    wrong = not value.strip() or (value.isalpha() and value.isascii() and value.lower() not in _SPECIAL)
    if day is not None and key != "TIME":
        year, month, number = (int(part) for part in day.groups())
        try:
            date(max(year, 1), month, number)
        except ValueError:
            wrong = wrong or year > 0
    if wrong:
        raise MergeSyntaxError(f"'{value}' is no {key.lower()}", whole)


def read_interval(sql: Sql, i: int, stop: int) -> int:
    """The index after the interval whose first value is at token i: `1 day 2 hours`, `'1-2' year to month`."""
    units: list[int] = []
    while i < stop:
        value = i + 1 if sql.key(i) in ("+", "-") else i
        if value >= stop or not (sql.kind(value) in ("number", "string") or sql.is_filled(value)):
            break
        unit = value + 1
        if sql.key(unit) in ("QUARTER", "QUARTERS"):
            raise MergeSyntaxError("an interval has no quarters", sql.at(unit), "write 3 MONTHS", kind="unsupported")
        if unit >= stop or sql.key(unit) not in MONTH_UNITS | DAY_UNITS:
            if units:
                break
            raise MergeSyntaxError(
                "the interval has no unit that Spark knows",
                sql.span(value, min(unit + 1, stop)),
                "as in INTERVAL 3 DAYS",
            )
        units.append(unit)
        i = unit + 1
        if i + 1 < stop and sql.key(i) == "TO":
            return i + 2
    if any(sql.key(unit) in MONTH_UNITS for unit in units) and any(sql.key(unit) in DAY_UNITS for unit in units):
        raise MergeSyntaxError(
            "an interval does not mix months and days", sql.span(units[0], units[-1] + 1), "add two intervals"
        )
    return i
