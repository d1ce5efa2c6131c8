"""What a plain (unquoted) YAML scalar means: a number only where YAML 1.1 and 1.2 agree that it is one."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone

Scalar = str | int | float | bool | date | datetime | None
"""What a scalar of a YAML file can be."""

_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,999})\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,999}\Z")
_FLOAT = re.compile(r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?\Z")
_SPECIAL = re.compile(r"(?:([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2})(?:[Tt]|[ \t]+)(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{0,6}))?"
    r"(?:[ \t]*(?:(Z)|([-+])(\d\d?)(?::(\d\d))?))?\Z",
    re.ASCII,
)
_NUMERIC_STARTS = frozenset("0123456789+-.")
_LONGEST_NUMBER = 1000
"""Characters: what is longer stays text, since Python writes no number of more than 4,300 digits."""


def plain_scalar(text: str) -> Scalar:
    """The value of an unquoted scalar.

    Booleans and null are those of YAML 1.2, so `no`, `on` and `y` stay text. What only one version of YAML takes for a
    number stays text as well: `012`, `1_000`, `12:30`, `0o14`, `1e3`. Dates and timestamps are those of YAML 1.1; one
    that the calendar does not have stays text.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC_STARTS or len(text) > _LONGEST_NUMBER:
        return text
    number = _number(text)
    return _date_or_text(text) if number is None else number


def _number(text: str) -> int | float | None:
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    if _HEX.match(text):
        return int(text, 16)
    if special := _SPECIAL.match(text):
        return float("nan") if special[1] is None else float(f"{special[1]}inf")
    return None


def _date_or_text(text: str) -> date | datetime | str:
    try:
        if _DATE.match(text):
            return date.fromisoformat(text)
        if stamp := _TIMESTAMP.match(text):
            return _timestamp(stamp)
    except ValueError:  # the calendar or the clock does not have it
        pass
    return text


def _timestamp(match: re.Match[str]) -> datetime:
    day, hour, minute, second, fraction, utc, sign, zone_hours, zone_minutes = match.groups()
    zone = timezone.utc if utc else None
    if sign:
        offset = timedelta(hours=int(zone_hours), minutes=int(zone_minutes or 0))
        zone = timezone(-offset if sign == "-" else offset)
    microsecond = int((fraction or "").ljust(6, "0"))
    year, month, of_month = (int(part) for part in day.split("-"))
    return datetime(year, month, of_month, int(hour), int(minute), int(second), microsecond, zone)
