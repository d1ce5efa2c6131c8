"""What a time window of an orchestrator, such as a partition, is to a project: vars, or the batches of models."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone

_NAMES = "`{start}`, `{end}` and `{last}`"


def window_vars(templates: Mapping[str, str], start: datetime, end: datetime) -> dict[str, str]:
    """Return the vars of the window from `start` up to, and without, `end`.

    `{start}` and `{end}` are dates where both are midnights, else timestamps (`2026-01-31 18:00:00`); `{last}` is the
    last day that has a part in the window. A format of strftime may follow: `{start:%Y%m%d}`. Raises ValueError for
    another name in braces.
    """
    days = all(time_of_window.time() == datetime.min.time() for time_of_window in (start, end))
    last = (end - timedelta(microseconds=1)).date()
    values = {"start": _WindowTime(start, days), "end": _WindowTime(end, days), "last": _WindowTime(last, True)}
    values_by_name = {}
    for name, template in templates.items():
        try:
            values_by_name[name] = template.format_map(values)
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(f"the var {name!r} is {template!r}; in braces it may have {_NAMES}") from error
    return values_by_name


def event_time_arguments(start: datetime, end: datetime) -> list[str]:
    """Return the arguments of `build` that run the batches of the window from `start` up to, and without, `end`."""
    return ["--event-time-start", _utc_text(start), "--event-time-end", _utc_text(end)]


def _utc_text(time: datetime) -> str:
    """Return a time as options take it; one without an offset is UTC."""
    time = time if time.tzinfo is None else time.astimezone(timezone.utc)
    return f"{time:%Y-%m-%d}" if time.time() == datetime.min.time() else f"{time:%Y-%m-%d %H:%M:%S}"


class _WindowTime:
    """A point in time as SQL literals have it, unless a format is given."""

    def __init__(self, value: date, day: bool) -> None:
        self._value = value
        self._format = "%Y-%m-%d" if day else "%Y-%m-%d %H:%M:%S"

    def __format__(self, spec: str) -> str:
        return self._value.strftime(spec or self._format)
