"""Rows of a CSV text, and where each of their values is in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


class CsvError(ValueError):
    """A row that does not fit its header; `offset` is where it begins in the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class CsvRows:
    """The rows by column name, an empty value as NULL. `starts` are the offsets of the header and of each row."""

    header: tuple[str, ...]
    values: tuple[Mapping[str, Any], ...]
    starts: tuple[int, ...]


def read_csv(text: str) -> CsvRows:
    """Return the rows of a text with a header; blank lines do not count. Raises CsvError."""
    lines = list(_lines(text))
    if not lines:
        return CsvRows((), (), ())
    header = tuple(name.strip() for name in lines[0][1])
    rows = []
    for number, (start, row) in enumerate(lines[1:], 1):
        if len(row) != len(header):
            raise CsvError(f"row {number} has {len(row)} values, and the header {len(header)} names", start)
        rows.append({name: value if value != "" else None for name, value in zip(header, row, strict=True)})
    return CsvRows(header, tuple(rows), tuple(start for start, _ in lines))


def value_offset(text: str, start: int, index: int) -> int:
    """Return the offset of the value `index` (0-based) in the line that begins at `start`, after leading blanks."""
    is_quoted, at = False, start
    while index and at < len(text):
        is_quoted ^= text[at] == '"'
        index -= text[at] == "," and not is_quoted
        at += 1
    return at + len(text[at:]) - len(text[at:].lstrip(" \t"))


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each line that is not blank, with its offset; a quoted value may go over several lines of the text."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    reader = csv.reader(io.StringIO(text), skipinitialspace=True)
    before = 0
    for row in reader:
        if row:
            yield starts[before], row
        before = reader.line_num
