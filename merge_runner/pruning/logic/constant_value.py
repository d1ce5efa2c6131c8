"""Constant values that a condition may hold, and their order where it is certain."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

_DATE = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\Z")
_TIMESTAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?\Z")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
_DAY = 86_400
_SHORTEST_MONTH, _LONGEST_MONTH = 28, 31
_ZONE = timezone.utc
"""Moments are those of the session's zone, whichever that is: they are only compared with each other."""

_SOME_DAY = datetime(2025, 1, 1, tzinfo=_ZONE)
"""`current_date()` never is before it: this package is younger."""


class Lit(NamedTuple):
    """A constant.

    `kind` is `null`, `bool`, `number` (Decimal), `text`, `date`, `timestamp` (datetime), `instant` (a datetime whose
    text has an offset: it compares with others of its kind alone), `today` (months and days from current_date()), `now`
    (months and seconds from current_timestamp()) or `interval` (months and seconds).
    """

    kind: str
    value: Any

    @property
    def moves(self) -> bool:
        """Whether it is another value on another day."""
        return self.kind in ("today", "now")


NULL = Lit("null", None)
TRUE = Lit("bool", True)
FALSE = Lit("bool", False)
TODAY = Lit("today", (0, 0))
NOW = Lit("now", (0, 0))


def number(text: str) -> Lit | None:
    """The number that a text is, None where it is none."""
    if _NUMBER.match(text.strip()) is None:
        return None
    try:
        return Lit("number", Decimal(text.strip()))
    except InvalidOperation:
        return None


def day(text: str) -> Lit | None:
    """The date of `2024-01-31`; of `2024-01-31 10:00` too, as a cast to a date gives it. None where it is none."""
    instant = timestamp(text)
    return Lit("date", instant.value.date()) if instant else None


def timestamp(text: str) -> Lit | None:
    """The moment of `2024-01-31 10:00:00` in the session's zone, midnight of `2024-01-31`; None where it is none."""
    text = text.strip()
    try:
        if match := _DATE.match(text):
            return Lit("timestamp", datetime(int(match[1]), int(match[2]), int(match[3] or 1), tzinfo=_ZONE))
        if match := _TIMESTAMP.match(text):
            year, month, day_of_month, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
            micros = int((match[7] or "").ljust(6, "0"))
            return Lit("timestamp", datetime(year, month, day_of_month, hour, minute, second, micros, _ZONE))
    except ValueError:
        return None
    return None


def _in_utc(text: str) -> Lit | None:
    """The moment of `2024-01-31 10:00:00+00:00`; None for a text that is none, or has another offset or none."""
    instant = timestamp(text.strip().removesuffix("+00:00")) if text.strip().endswith("+00:00") else None
    return Lit("instant", instant.value) if instant is not None else None


def cast(lit: Lit, type_name: str) -> Lit | None:
    """A constant cast to a type, None where that is not known here."""
    kind, value = lit
    if kind == "null":
        return lit
    if kind == "instant":
        return lit if type_name == "timestamp" else None
    if type_name == "string":
        return lit if kind == "text" else None
    if type_name == "boolean":
        words = {"true": TRUE, "false": FALSE}
        return lit if kind == "bool" else words.get(value.strip().lower()) if kind == "text" else None
    if type_name == "date":
        return _to_date(lit)
    if type_name in ("timestamp", "timestamp_ntz"):
        if kind == "text" and type_name == "timestamp" and (moment := _in_utc(value)) is not None:
            return moment
        return lit if kind == "today" else _instant(lit)
    if type_name in ("tinyint", "smallint", "int", "bigint", "decimal", "double", "float"):
        amount = lit if kind == "number" else number(value) if kind == "text" else None
        if amount is not None and type_name.endswith("int") and amount.value != amount.value.to_integral_value():
            return None
        return amount
    return None


def plus(lit: Lit, interval: Lit, sign: int) -> Lit | None:
    """A day or moment with an interval, or with a number of days, added to it or taken from it."""
    if interval.kind == "number":
        if lit.kind not in ("date", "today") or interval.value != int(interval.value):
            return None
        interval = Lit("interval", (0, int(interval.value) * _DAY))
    if interval.kind != "interval":
        return None
    months, seconds = interval.value
    if lit.kind == "now":
        return Lit("now", (lit.value[0] + sign * months, lit.value[1] + sign * seconds))
    if lit.kind == "today":
        if seconds % _DAY or (months and lit.value[1]):
            return None
        return Lit("today", (lit.value[0] + sign * months, lit.value[1] + sign * (seconds // _DAY)))
    if lit.kind not in ("date", "timestamp"):
        return None
    try:
        moved = _add_months(lit.value, sign * months) + timedelta(seconds=sign * seconds)
    except (OverflowError, ValueError):
        return None
    if lit.kind == "date" and seconds % _DAY:
        return None
    return Lit(lit.kind, moved)


def truncate(lit: Lit, unit: str) -> Lit | None:
    """The start of the unit (`day`, `month`…) that a day or moment lies in; None where that is not known."""
    if lit.kind == "today":
        return lit if unit == "day" else None
    if lit.kind == "now":
        return _day_of(lit) if unit == "day" else None
    instant = _instant(lit)
    if instant is None:
        return None
    start = instant.value.replace(minute=0, second=0, microsecond=0)
    if unit == "hour":
        return Lit("timestamp", start)
    start = start.replace(hour=0)
    if unit == "week":
        start -= timedelta(days=start.weekday())
    elif unit == "month":
        start = start.replace(day=1)
    elif unit == "quarter":
        start = start.replace(day=1, month=(start.month - 1) // 3 * 3 + 1)
    elif unit == "year":
        start = start.replace(day=1, month=1)
    elif unit != "day":
        return None
    return Lit("timestamp", start)


def compare(left: Lit, right: Lit) -> int | None:
    """-1, 0 or 1 as `left` is less than, equal to or greater than `right` as columns of any fitting type have it.

    None where that depends on the type of the column, on the day, or where they are of kinds that do not compare.
    """
    if left == right:
        return None if left.kind == "null" else 0
    if left.kind == right.kind == "instant":
        return _order(left.value, right.value)
    if "instant" in (left.kind, right.kind):
        return None
    if left.moves or right.moves:
        return _compare_moving(left, right)
    if {left.kind, right.kind} == {"number", "text"}:
        # Of a column of texts, `c >= 10` compares numbers, and `c < '9'` texts: '10' satisfies both.
        return None
    readings = {
        _order(a, b) for a, b in zip(_readings(left), _readings(right), strict=True) if a is not None and b is not None
    }
    return readings.pop() if len(readings) == 1 else None


def _readings(lit: Lit) -> tuple[Any, Any, Any, Any]:
    """As a text, a number, a moment and a truth value."""
    if lit.kind == "text":
        as_number, instant = number(lit.value), timestamp(lit.value)
        return lit.value, as_number and as_number.value, instant and instant.value, None
    if lit.kind == "number":
        return None, lit.value, None, None
    if lit.kind == "bool":
        return None, None, None, lit.value
    instant = _instant(lit)
    return None, None, instant and instant.value, None


def _order(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _instant(lit: Lit) -> Lit | None:
    if lit.kind == "timestamp":
        return lit
    if lit.kind == "date":
        return Lit("timestamp", datetime(lit.value.year, lit.value.month, lit.value.day, tzinfo=_ZONE))
    return timestamp(lit.value) if lit.kind == "text" else None


def _to_date(lit: Lit) -> Lit | None:
    if lit.kind == "text":
        return day(lit.value)
    if lit.kind == "timestamp":
        return Lit("date", lit.value.date())
    if lit.kind == "now":
        return _day_of(lit)
    return lit if lit.kind in ("date", "today") else None


def earliest_day(lit: Lit) -> Lit | None:
    """The first day that some hours before or after current_timestamp() can lie in; None for months."""
    months, seconds = lit.value
    return Lit("today", (0, seconds // _DAY)) if not months else None


def _day_of(lit: Lit) -> Lit | None:
    """The day that lies whole days or months before or after current_timestamp(); None for hours."""
    months, seconds = lit.value
    return Lit("today", (months, seconds // _DAY)) if not seconds % _DAY and not (months and seconds) else None


def _compare_moving(left: Lit, right: Lit) -> int | None:
    if not left.moves:
        turned = _compare_moving(right, left)
        return None if turned is None else -turned
    low, high = _range(left)
    if right.moves:
        other_low, other_high = _range(right)
        return 1 if low > other_high else -1 if high < other_low else None
    instant = _instant(right)
    if instant is None:
        return None
    try:
        return 1 if instant.value < _SOME_DAY + timedelta(seconds=low) else None
    except OverflowError:
        return None


def _range(lit: Lit) -> tuple[int, int]:
    """The first and last second, counted from the midnight before now, that a moving constant can be."""
    months, days_or_seconds = lit.value
    days = sorted((months * _SHORTEST_MONTH, months * _LONGEST_MONTH))
    if lit.kind == "today":
        return (days[0] + days_or_seconds) * _DAY, (days[1] + days_or_seconds) * _DAY
    return days[0] * _DAY + days_or_seconds, (days[1] + 1) * _DAY + days_or_seconds


def _add_months(instant: date, months: int) -> date:
    year, month = divmod(instant.year * 12 + instant.month - 1 + months, 12)
    for last in (31, 30, 29, 28):
        try:
            return instant.replace(year=year, month=month + 1, day=min(instant.day, last))
        except ValueError:
            if instant.day <= 28:
                raise
    raise ValueError(months)
