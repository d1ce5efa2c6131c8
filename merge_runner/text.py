"""A text with a name, and places in it. Lines and columns are 1-based, columns count characters."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a file: `path` relative to the project, 1-based `line` and `column`.

    `end_line` and `end_column` name the first character after it; None where only the start is known. `cell` is the
    1-based cell of a notebook in which lines are counted; None where they are those of the file.
    """

    path: str
    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None
    cell: int | None = None

    def __str__(self) -> str:
        return f"{self.text_name}:{self.line}:{self.column}"

    @property
    def in_file(self) -> Place:
        """The place for readers that count lines in files alone: the beginning of the file for one in a cell."""
        return self if self.cell is None else Place(self.path, 1, 1)

    @property
    def text_name(self) -> str:
        """The name of the text in which lines are counted, as `SourceText.name`."""
        return text_name(self.path, self.cell)


def text_name(path: str, cell: int | None) -> str:
    """Return `path`, or `path:cell 3` for a cell of a notebook."""
    return path if cell is None else f"{path}:cell {cell}"


def place_as_json(place: Place) -> dict[str, str | int]:
    """Return the path, line and column of a place as JSON values."""
    return {"path": place.path, "line": place.line, "column": place.column}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of a text: 0-based offsets in characters, `end` exclusive."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The part of `text` that the span covers."""
        return text[self.start : self.end]


_NOT_XML = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def xml_text(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold."""
    return re.sub(_NOT_XML, "", text)


def as_source(text: str) -> str:
    """The text of a file as a SourceText has it: no byte order mark, newlines as `\\n`."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


@dataclass(frozen=True)
class SourceText:
    """A file as its author wrote it: `path` relative to the project with forward slashes, newlines as `\\n`.

    `cell` is the 1-based cell where the text is one of an .ipynb notebook, whose lines are counted in each cell.
    """

    path: str
    text: str
    cell: int | None = field(default=None, kw_only=True)

    @property
    def name(self) -> str:
        """The path, for a cell of a notebook with its number."""
        return text_name(self.path, self.cell)

    @cached_property
    def _starts(self) -> array[int]:
        # A list takes 36 bytes for each line, and a file may have millions.
        return array("Q", chain((0,), (newline.end() for newline in re.finditer("\n", self.text))))

    def place(self, start: int, end: int | None = None) -> Place:
        """Return the place of offset `start` (and of the exclusive `end`); offsets after the text mean its end."""
        line, column = self._line_column(start)
        if end is None:
            return Place(self.path, line, column, cell=self.cell)
        return Place(self.path, line, column, *self._line_column(end), cell=self.cell)

    def offset(self, line: int, column: int = 1) -> int:
        """Return the offset of a 1-based line and column; a line after the last means the end of the text."""
        if line > len(self._starts):
            return len(self.text)
        return min(self._starts[line - 1] + column - 1, len(self.text))

    def line(self, number: int) -> str:
        """Return the 1-based line `number` without its newline; empty after the last one."""
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def _line_column(self, offset: int) -> tuple[int, int]:
        offset = min(offset, len(self.text))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@dataclass(frozen=True)
class PlacedText(SourceText):
    """A text inside a value, such as a hook in a config; its author knows no offsets in it, so all of it is at `at`."""

    at: Place

    def place(self, start: int, end: int | None = None) -> Place:
        return self.at
