"""Time zones as templates have them: those of Python, with the names of pytz."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from merge_runner.template.outcome import RefusedError


class TimeZone(ZoneInfo):
    """A time zone as pytz has it."""

    def localize(self, moment: datetime) -> datetime:
        """Return a time without a zone as one of this zone."""
        return moment.replace(tzinfo=self)


def time_zone(name: Any) -> TimeZone:
    """Return the time zone of a name. Raises RefusedError where there is none."""
    try:
        return TimeZone(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise RefusedError("jinja-runtime", f"pytz.timezone: there is no time zone {str(name)[:100]!r}") from None
