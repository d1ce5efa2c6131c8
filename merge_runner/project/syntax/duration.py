"""Durations as people write them: `90`, `30s`, `5 minutes`, `1h`, `7d`."""

from __future__ import annotations

import re
from typing import Any

PATTERN = r"(\d+(?:\.\d+)?)\s*(?:(s|m|h|d)|(second|minute|hour|day)s?)?"
"""A text that is a duration, as a regular expression; blanks may be around it."""
_DURATION = re.compile(rf"{PATTERN}\Z", re.ASCII)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def seconds(value: Any) -> float:
    """Seconds of a number, or of a text with a unit. Raises ValueError where that is not a time above 0."""
    if isinstance(value, str) and (match := _DURATION.match(value.strip())):
        value = float(match[1]) * _SECONDS[(match[2] or match[3] or "s")[0]]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ValueError('a number of seconds above 0, or a text such as "30s", "5 minutes" or "1h"')
    return float(value)


def in_words(duration: float) -> str:
    """Seconds as people say them, in the largest unit that divides them: `7 days`, `36 hours`, `90 seconds`."""
    units = ((86_400, "day"), (3600, "hour"), (60, "minute"))
    size, unit = next(
        (size_and_unit for size_and_unit in units if duration >= size_and_unit[0] and duration % size_and_unit[0] == 0),
        (1, "second"),
    )
    number = duration / size
    return f"{number:,g} {unit}" + ("" if number == 1 else "s")
