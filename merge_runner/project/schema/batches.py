"""The types of the config keys of batches."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from merge_runner.project.schema.accepts import TEXT, also
from merge_runner.project.syntax.annotations import Before
from merge_runner.project.syntax.point_in_time import read_time

BatchSize = Literal["hour", "day", "month", "year"]
_YEARS = (1000, 9000)
"""The calendar of Python ends soon after, and Spark's has other days before 1582."""


def _time_text(value: Any) -> Any:
    """Return a time as text; one that YAML has read as a date, too. Raises ValueError for a text that is no time."""
    if not isinstance(value, date | str):
        return value
    try:
        is_usual = _YEARS[0] <= read_time(value).year <= _YEARS[1]
    except ValueError:
        is_usual = False
    if not is_usual:
        raise ValueError("a time such as 2026-01-31 or 2026-01-31 18:00:00")
    return str(value)


TimeText = Annotated[str, Before(_time_text), also(TEXT)]
"""A date, or a date and time, as text."""


def _on_or_off(value: Any) -> Any:
    # YAML 1.1 and dbt's projects write them as booleans.
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


ConcurrentBatches = Annotated[Literal["auto", "on", "off"], Before(_on_or_off), also({"type": "boolean"})]
