"""How long a table keeps what its newest version no longer needs: properties, and their defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_DAY = 86_400.0
_UNITS = {
    "week": 7 * _DAY,
    "day": _DAY,
    "hour": 3600.0,
    "minute": 60.0,
    "second": 1.0,
    "millisecond": 1e-3,
    "microsecond": 1e-6,
}
_PART = re.compile(rf"\s*(\d+)\s+({'|'.join(_UNITS)})s?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Retention:
    """The table property that sets it, and the seconds where it is not set."""

    property: str
    default: float


RETENTION: Mapping[str, Retention] = MappingProxyType(
    {
        # DeltaConfigs.TOMBSTONE_RETENTION of Delta 4.4.0.
        "delta": Retention("delta.deletedFileRetentionDuration", 7 * _DAY),
        # TableProperties.MAX_SNAPSHOT_AGE_MS of Iceberg 1.12.0.
        "iceberg": Retention("history.expire.max-snapshot-age-ms", 5 * _DAY),
    }
)


def kept_for(table_format: str, properties: Mapping[str, str]) -> float:
    """Return the seconds for which a table with these properties keeps what is no longer needed.

    A value that cannot be read counts as not set: the engine refuses it.
    """
    rule = RETENTION[table_format]
    said = next((value for key, value in properties.items() if key.lower() == rule.property.lower()), None)
    read = _interval if table_format == "delta" else _milliseconds
    found = read(said) if said is not None else None
    return rule.default if found is None else found


def _interval(text: str) -> float | None:
    """Return the seconds of a Delta interval: `interval 3 days`, `1 week 12 hours`; Delta refuses months and years."""
    rest = re.sub(r"\A\s*interval\b", "", text, flags=re.IGNORECASE)
    total, position = 0.0, 0
    while part := _PART.match(rest, position):
        total += int(part[1]) * _UNITS[part[2].lower()]
        position = part.end()
    return total if position and not rest[position:].strip() else None


def _milliseconds(text: str) -> float | None:
    return int(text) / 1000 if text.strip().isascii() and text.strip().isdigit() else None
