"""How many days the rows of a source cover, where constants restrict a date or timestamp of it from both sides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from merge_runner.pruning.logic.constant_value import Lit, day
from merge_runner.pruning.logic.term import Call, Col, Term, columns

if TYPE_CHECKING:
    from merge_runner.pruning.query.source import SourceFacts

_DAY = timedelta(days=1)


def restricted_days(source: SourceFacts) -> str | None:
    """Return the shortest time that the restrictions of a source leave of a column: `2 days`, `the last 7 days`.

    None where they leave none from both sides. A lower bound that moves with the clock counts as one up to now.
    """
    named = dict.fromkeys(column for term in source.restrictions for column in columns(term))
    spans = [_span(source, column) for column in named]
    shortest = min((span for span in spans if span is not None), default=None)
    if shortest is None:
        return None
    span, moves = shortest
    amount, unit = (span // _DAY, "day") if span >= _DAY else (max(1, span // timedelta(hours=1)), "hour")
    counted = f"{amount} {unit}{'s' * (amount != 1)}"
    return f"the last {counted}" if moves else counted


def _span(source: SourceFacts, column: Col) -> tuple[timedelta, bool] | None:
    """The time between the bounds of a column, and whether it ends now."""
    declared = source.column(column.name)
    is_date = declared is not None and declared.data_type is not None and declared.data_type.name == "date"
    for term in source.restrictions:
        if is_date and isinstance(term, Call) and term.name == "in" and term.args[0] == column:
            return len(set(term.args[1:])) * _DAY, False
    bounds = [(name, _day(value) if is_date else value) for name, value in source.facts.bounds(column)]
    return _shortest([(name, value) for name, value in bounds if isinstance(value, Lit)])


def _day(value: Term) -> Term | None:
    """A date that is written as text is compared as one."""
    return day(value.value) if isinstance(value, Lit) and value.kind == "text" else value


def _shortest(bounds: Sequence[tuple[str, Lit]]) -> tuple[timedelta, bool] | None:
    spans = []
    for name, low in bounds:
        if name == "=" and low.kind in ("date", "today"):
            return _DAY, False
        if name not in (">", ">="):
            continue
        upper = [(other, high) for other, high in bounds if other in ("<", "<=") and high.kind == low.kind]
        spans += [(span, False) for other, high in upper if (span := _between(name, low, other, high)) is not None]
        months, rest = low.value if low.moves else (1, 0)
        if not months and rest < 0:
            spans.append((-rest * (_DAY if low.kind == "today" else timedelta(seconds=1)), True))
    return min(spans, default=None)


def _between(name: str, low: Lit, other: str, high: Lit) -> timedelta | None:
    """The time between two bounds of one kind; whole days where they are days. None where it cannot be known."""
    if low.kind in ("date", "timestamp"):
        between = high.value - low.value
    elif low.moves and low.value[0] == high.value[0]:
        unit = _DAY if low.kind == "today" else timedelta(seconds=1)
        between = (high.value[1] - low.value[1]) * unit
    else:
        return None
    if low.kind in ("date", "today"):
        between += _DAY * ((other == "<=") - (name == ">"))
    return between if between > timedelta(0) else None
