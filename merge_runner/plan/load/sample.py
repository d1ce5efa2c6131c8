"""`--empty` and `--sample`: models read no rows of their inputs, or those of a window of time"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.relation import Relation

PROPERTY = "merge_runner.sample"
"""The property of a table that such a run has made: what it was asked for. No other run adds rows to it."""
_RELATIVE = re.compile(r"\s*(\d+)\s+(hour|day|month|year)s?\s*\Z", re.ASCII | re.IGNORECASE)
_FORMS = """'3 days' (hours, days, months or years), or a window: "{start: 2026-01-01, end: 2026-02-01}\""""


@dataclass(frozen=True)
class Sample:
    """Which rows of their inputs models read: none where there is no window, else those of `start` to before `end`.

    `text` is what was asked for, as the tables are marked with it. The times are UTC.
    """

    text: str
    start: datetime | None = None
    end: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no row at all is read."""
        return self.start is None and self.end is None

    def of(self, relation: Relation, event_time: str | None) -> Relation:
        """Return the rows of a relation that are read, by its column or expression `event_time`; None: all of them.

        It keeps its name; in a statement it is a subquery without an alias, as in dbt.
        """
        if self.is_empty:
            return replace(relation, sql=f"(select * from {relation} where false limit 0)")
        if event_time is None:
            return relation
        sides = ((">=", self.start), ("<", self.end))
        window = " and ".join(
            f"{event_time} {operator} {_literal(time)}" for operator, time in sides if time is not None
        )
        return replace(relation, sql=f"(select * from {relation} where {window})")


EMPTY = Sample("empty")


def read_sample(text: str, now: datetime) -> Sample:
    """Return the sample of a text of `--sample`: `3 days`, or a mapping in YAML with `start`, `end` or both.

    A relative window ends now. Raises ValueError.
    """
    if (match := _RELATIVE.match(text)) is not None:
        number, unit = int(match[1]), match[2].lower()
        if number == 0:
            raise ValueError(f"{text!r} is no window: write {_FORMS}")
        try:
            end = now.astimezone(timezone.utc).replace(microsecond=0)
            return Sample(text.strip(), _plus(end, unit, -number), end)
        except (OverflowError, ValueError):
            raise ValueError(f"{text!r} begins before the year 1") from None
    window = _mapping(text)
    start, until = (read_time(window[key]) if key in window else None for key in ("start", "end"))
    if start is not None and until is not None and start >= until:
        raise ValueError(f"the window ends at {until:%Y-%m-%d %H:%M:%S}, which is not after its start")
    return Sample(text.strip(), start, until)


def _mapping(text: str) -> Mapping[str, Any]:
    import yaml

    try:
        mapping = yaml.safe_load(text)
    except yaml.YAMLError:
        mapping = None
    if not isinstance(mapping, dict) or not mapping or not mapping.keys() <= {"start", "end"}:
        raise ValueError(f"{text!r} is no window: write {_FORMS}")
    return mapping


def _plus(time: datetime, unit: str, number: int) -> datetime:
    """Return a time some units later; a day that its month does not have is the month's last."""
    if unit in ("hour", "day"):
        return time + timedelta(**{f"{unit}s": number})
    months = time.year * 12 + time.month - 1 + number * (12 if unit == "year" else 1)
    first = time.replace(year=months // 12, month=months % 12 + 1, day=1)
    return first + timedelta(days=min(time.day, _days_of(first)) - 1)


def _days_of(first: datetime) -> int:
    return ((first + timedelta(days=31)).replace(day=1) - first).days


def _literal(time: datetime) -> str:
    return f"timestamp'{time.isoformat(' ', 'seconds')}'"
