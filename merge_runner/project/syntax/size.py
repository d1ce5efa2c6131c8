"""Sizes as people write them: `500`, `500 MB`, `50 GiB`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_POWERS = "KMGTP"
PATTERN = r"(\d+(?:\.\d+)?)\s*(?:([kKMGTP])(i?)B|bytes?|B)?"
"""A text that is a size, as a regular expression; blanks may be around it."""
_SIZE = re.compile(rf"{PATTERN}\Z", re.ASCII)


def byte_count(value: Any) -> int:
    """Return the bytes of a whole number, or of a text with a unit: KiB is 1024, kB and KB are 1000.

    Raises ValueError where that is no size.
    """
    text = value.strip() if isinstance(value, str) else str(value)
    match = _SIZE.match(text) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if match is None:
        raise ValueError('a whole number of bytes, or a text such as "500 MB" or "50 GiB"')
    power = _POWERS.index(match[2].upper()) + 1 if match[2] else 0
    return int(Decimal(match[1]) * (1024 if match[3] else 1000) ** power)


def size_in_words(size: int) -> str:
    """Return a number of bytes for people: `1.2 MiB`."""
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_BINARY) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f} {_BINARY[unit]}" if unit else f"{size} bytes"
