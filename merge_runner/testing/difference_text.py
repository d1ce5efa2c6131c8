"""A difference as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from merge_runner.plain_json import plain
from merge_runner.testing.difference import ChangedRow, Difference, Row

MOST_SHOWN = 20
"""How many rows of each kind the text shows; JSON has them all."""


def in_words(heading: str, difference: Difference) -> str:
    """Lines: what differs, then changed rows by key (`~`), missing ones (`-`) and unexpected ones (`+`)."""
    return "\n".join((f"{heading}: {_counts(difference)}", *_lines(difference)))


def as_json(difference: Difference) -> dict[str, Any]:
    """The difference as plain JSON values."""
    return {
        "missing": [_by_column(difference.columns, row) for row in difference.missing],
        "unexpected": [_by_column(difference.columns, row) for row in difference.unexpected],
        "changed": [
            {
                "key": plain(row_difference.key),
                "cells": {
                    cell.column: {"expected": plain(cell.expected), "actual": plain(cell.actual)}
                    for cell in row_difference.cells
                },
            }
            for row_difference in difference.changed
        ],
    }


def _counts(difference: Difference) -> str:
    kinds = (
        (difference.changed, "differs", "differ"),
        (difference.missing, "is missing", "are missing"),
        (difference.unexpected, "is unexpected", "are unexpected"),
    )
    return ", ".join(_count(rows, singular, many) for rows, singular, many in kinds if rows)


def _count(rows: Sequence[object], singular: str, many: str) -> str:
    return f"1 row {singular}" if len(rows) == 1 else f"{len(rows):,} rows {many}"


def _lines(difference: Difference) -> Iterator[str]:
    yield from _some(_changed_row(row_difference) for row_difference in difference.changed)
    yield from _some(f"- {_row(difference.columns, row)}" for row in difference.missing)
    yield from _some(f"+ {_row(difference.columns, row)}" for row in difference.unexpected)


def _some(lines: Iterable[str]) -> Iterator[str]:
    hidden = 0
    for number, line in enumerate(lines):
        if number < MOST_SHOWN:
            yield f"  {line}"
        else:
            hidden += 1
    if hidden:
        yield f"    and {hidden:,} more"


def _changed_row(row_difference: ChangedRow) -> str:
    key = ", ".join(f"{name}={shown(value)}" for name, value in row_difference.key.items())
    cells = "; ".join(
        f"{cell.column}: expected {shown(cell.expected)}, is {shown(cell.actual)}" for cell in row_difference.cells
    )
    return f"~ {key}: {cells}"


def _row(columns: Sequence[str], row: Row) -> str:
    return ", ".join(f"{name}={shown(value)}" for name, value in zip(columns, row, strict=True))


def shown(value: Any) -> str:
    """A value as YAML would have it, more or less: NULL, dates and numbers plain, texts in quotes."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {shown(item)}" for name, item in value.items()) + "}"
    return str(value)


def _by_column(columns: Sequence[str], row: Row) -> dict[str, Any]:
    return {name: plain(value) for name, value in zip(columns, row, strict=True)}
