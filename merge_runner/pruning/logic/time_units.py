"""What a comparison of the start or a part of a timestamp says about the timestamp."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal

from merge_runner.pruning.logic import constant_value
from merge_runner.pruning.logic.constant_value import Lit
from merge_runner.pruning.logic.term import Call, Term

PARTS: dict[str, tuple[str, ...]] = {
    "year": (),
    "month": ("year",),
    "day": ("year", "month"),
    "dayofmonth": ("year", "month"),
    "hour": ("year", "month", "day"),
}
"""Parts of a moment, each with those that must be the same at both ends of a range for it to have a range itself."""
_TICK = timedelta(microseconds=1)
_LENGTHS = {
    unit: Lit("interval", length)
    for unit, length in {
        "hour": (0, 3600),
        "day": (0, 86_400),
        "week": (0, 604_800),
        "month": (1, 0),
        "quarter": (3, 0),
        "year": (12, 0),
    }.items()
}
"""The months and seconds from the start of a unit of time to the next one's."""


def order_of(left: Term, right: Term) -> int | None:
    """Return a negative number, 0 or a positive one as two terms are ordered; None where that is not known."""
    if left == right:
        return 0
    if isinstance(left, Lit) and isinstance(right, Lit):
        return constant_value.compare(left, right)
    return None


def unit_of(term: Call) -> str | None:
    """Return the unit whose start a call gives (`day` for a cast to date); None for other calls."""
    if term.name == "cast:date":
        return "day"
    return term.name[6:] if term.name.startswith("trunc:") else None


def of_start(name: str, value: Term, unit: str) -> list[tuple[str, Term]]:
    """What holds for the start of the unit that x lies in, where `x name value` does."""
    start = constant_value.truncate(value, unit) if isinstance(value, Lit) else None
    if name in ("<", "<="):
        if name == "<" and start is not None and order_of(value, start) == 0:
            start = constant_value.plus(start, _LENGTHS[unit], -1)
        return [(name, value), *([("<=", start)] if start is not None else [])]
    if start is None and isinstance(value, Lit) and value.kind == "now" and unit == "day" and name in (">", ">="):
        start = constant_value.earliest_day(value)
        return [(">=", start)] if start is not None else []
    if name == "=":
        return [("=", start)] if start is not None else [("<=", value)]
    return [(">=", start)] if start is not None and name in (">", ">=") else []


def of_part(part: str, bounds: Iterable[tuple[str, Term]]) -> list[tuple[str, Term]]:
    """What holds for the year, month, day or hour of what constants bound."""
    lows, highs = [], []
    for name, value in bounds:
        instant = constant_value.cast(value, "timestamp") if isinstance(value, Lit) and not value.moves else None
        if instant is None or instant.kind != "timestamp":
            continue
        if name in ("=", ">=", ">"):
            lows.append(instant.value)
        if name in ("=", "<=", "<"):
            highs.append(instant.value - _TICK if name == "<" else instant.value)
    low, high = max(lows, default=None), min(highs, default=None)
    above = PARTS[part]
    if above and (low is None or high is None or any(getattr(low, unit) != getattr(high, unit) for unit in above)):
        return []
    field = "day" if part == "dayofmonth" else part
    ends: list[tuple[str, Term]] = [
        (name, Lit("number", Decimal(getattr(end, field))))
        for name, end in ((">=", low), ("<=", high))
        if end is not None
    ]
    values = {value for _, value in ends}
    return [("=", value) for value in values] if len(values) < len(ends) else ends


def of_inside(name: str, value: Term, unit: str) -> list[tuple[str, Term]]:
    """What holds for x, where `name value` holds for the start of the unit that it lies in."""
    bounds: list[tuple[str, Term]] = []
    if name in ("=", ">=", ">"):
        bounds.append((">" if name == ">" else ">=", value))
    start = constant_value.truncate(value, unit) if isinstance(value, Lit) else None
    if name in ("=", "<=", "<") and start is not None:
        ends_before = name == "<" and order_of(value, start) == 0
        end = start if ends_before else constant_value.plus(start, _LENGTHS[unit], 1)
        if end is not None:
            bounds.append(("<", end))
    return bounds
