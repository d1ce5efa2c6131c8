"""A point in time as options and YAML have it."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Any


def read_time(value: Any) -> datetime:
    """Return a time in UTC; one without an offset is UTC. Raises ValueError where it is none."""
    try:
        time = datetime.fromisoformat(re.sub("[Zz]$", "+00:00", str(value)))  # Python 3.10 reads no Z
    except ValueError:
        raise ValueError(f"{str(value)!r} is no time: write 2026-01-31 or 2026-01-31 18:00:00") from None
    try:
        return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
    except OverflowError:
        raise ValueError(f"{str(value)!r} is before the year 1, or after 9999") from None
