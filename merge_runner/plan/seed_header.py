"""The names of a seed's columns, from the first line of its file."""

from __future__ import annotations

import csv
from pathlib import Path


def seed_header(file: Path, delimiter: str) -> tuple[str, ...] | None:
    """The names as Spark takes them; None where they cannot be told without Spark (none, empty or equal names)."""
    if len(delimiter) != 1:
        return None
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            names = next(csv.reader(stream, delimiter=delimiter), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    folded = {name.casefold() for name in names}
    return tuple(names) if names and "" not in folded and len(folded) == len(names) else None
