"""Windows of time: how long a batch is, where it begins, and how SQL has its bounds. All times are UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal, get_args

from merge_runner.project.schema.batches import BatchSize

TimeType = Literal["date", "timestamp", "timestamp_ntz"]
"""The types of Spark that say when a row happened."""
TIME_TYPES: tuple[TimeType, ...] = get_args(TimeType)
_NAMES: Mapping[BatchSize, str] = {"hour": "%Y%m%dT%H", "day": "%Y%m%d", "month": "%Y%m", "year": "%Y"}
_LAST_YEAR = 9000
"""The calendar of Python ends soon after."""
_TEXT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d))?", re.ASCII)


@dataclass(frozen=True, order=True)
class Window:
    """The time from `start` to before `end`."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{self.start_text}/{self.end_text}"

    @property
    def start_text(self) -> str:
        """The start as text, such as `2026-01-31` or `2026-01-31T18`."""
        return _text(self.start)

    @property
    def end_text(self) -> str:
        """The end as text."""
        return _text(self.end)

    def covers(self, other: Window) -> bool:
        """Whether another window is part of this one."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Window) -> bool:
        """Whether some time is in both."""
        return self.start < other.end and other.start < self.end


def parsed_window(text: str) -> Window | None:
    """Return the window of a text such as `2026-01-01/2026-01-02`; None where it is no window."""
    start, separator, end = text.partition("/")
    times = [_time(part) for part in (start, end)] if separator else []
    if len(times) != 2 or times[0] is None or times[1] is None or times[0] >= times[1]:
        return None
    return Window(times[0], times[1])


def window_start(time: datetime, size: BatchSize) -> datetime:
    """Return the start of the batch that a time is in."""
    start = time.replace(minute=0, second=0, microsecond=0)
    if size != "hour":
        start = start.replace(hour=0)
    if size in ("month", "year"):
        start = start.replace(day=1)
    return start.replace(month=1) if size == "year" else start


def moved_start(start: datetime, size: BatchSize, count: int) -> datetime:
    """Return the start of the batch `count` batches later; a negative count is earlier.

    Raises OverflowError or ValueError beyond the years 1 to 9999.
    """
    if size in ("hour", "day"):
        return start + timedelta(**{f"{size}s": count})
    months = start.year * 12 + start.month - 1 + count * (12 if size == "year" else 1)
    return start.replace(year=months // 12, month=months % 12 + 1)


def windows_of(start: datetime, until: datetime, size: BatchSize) -> Iterator[Window]:
    """Yield the batches from the one with `start` in it, as long as they begin before `until`."""
    start = window_start(start, size)
    while start < until:
        end = moved_start(start, size, 1)
        yield Window(start, end)
        start = end


def time_literal(time: datetime, type: TimeType) -> str:
    """Return a time as a literal of a type: one of `timestamp` is the same moment in every time zone of a session."""
    if type == "date":
        return f"date'{time.date().isoformat()}'"
    text = time.replace(tzinfo=None).isoformat(" ", "seconds")
    return f"timestamp_ntz'{text}'" if type == "timestamp_ntz" else f"timestamp'{text}+00:00'"


def window_id(window: Window, size: BatchSize) -> str:
    """Return a window as dbt writes the id of a batch, such as `202601`; of several batches the first and the last."""
    first = f"{window.start:{_NAMES[size]}}"
    last = f"{moved_start(window_start(window.end, size), size, -1):{_NAMES[size]}}"
    return first if first == last else f"{first}_{last}"


def _text(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H}" if time.hour else f"{time:%Y-%m-%d}"


def _time(text: str) -> datetime | None:
    if (match := _TEXT.fullmatch(text)) is None:
        return None
    try:
        time = datetime.fromisoformat(f"{match[1]}T{match[2] or '00'}:00:00").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return time if time.year < _LAST_YEAR else None
