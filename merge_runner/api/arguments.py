"""What callers may give in several forms: one name or several, a path or its text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

Names = str | Sequence[str]


def texts(names: Names) -> tuple[str, ...]:
    """Return several names, or one, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def as_path(path: str | Path | None) -> Path | None:
    """Return a path that may be given as a text."""
    return None if path is None else Path(path)
