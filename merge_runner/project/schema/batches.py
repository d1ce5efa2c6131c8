"""The types of the config keys of batches."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from merge_runner.project.schema.accepts import TEXT, also
from merge_runner.project.syntax.annotations import Before
from merge_runner.project.syntax.point_in_time import read_time

BatchSize = Literal["hour", "day", "month", "year"]


def _time_text(value: Any) -> Any:
    """Return a time as text; one that YAML has read as a date, too. Raises ValueError for a text that is no time."""
    if isinstance(value, date | str):
        read_time(value)
        return str(value)
    return value


TimeText = Annotated[str, Before(_time_text), also(TEXT)]
"""A date, or a date and time, as text."""


def _on_or_off(value: Any) -> Any:
    # YAML 1.1 and dbt's projects write them as booleans.
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


ConcurrentBatches = Annotated[Literal["auto", "on", "off"], Before(_on_or_off), also({"type": "boolean"})]
