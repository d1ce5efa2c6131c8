"""Offsets in a text, and the positions of the protocol, which counts in units that the client chooses."""

from __future__ import annotations

from lsprotocol import types
from pygls.workspace import PositionCodec

from merge_runner.text import Place, SourceText, Span, as_source


class Positions:
    """A text as the client has it; offsets count the characters of `text`, whose `lines` end in `\\n`."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.text = as_source(text)
        self.lines = self.text.split("\n")
        self._source = SourceText("", self.text)
        self._codec = codec

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position of the client; one after the end of a line means its end."""
        line = self.lines[position.line] if position.line < len(self.lines) else ""
        units = column = 0
        while column < len(line) and units < position.character:
            units += self._codec.client_num_units(line[column])
            column += 1
        return self._source.offset(position.line + 1, column + 1)

    def at(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        place = self._source.place(offset)
        return self.position(place.line, place.column)

    def position(self, line: int, column: int) -> types.Position:
        """Return the position of a 1-based line and column; one after the text is its end."""
        line = min(line, len(self.lines))
        return types.Position(line - 1, self._codec.client_num_units(self.lines[line - 1][: column - 1]))

    def span(self, span: Span) -> types.Range:
        """Return the range of a span."""
        return types.Range(self.at(span.start), self.at(span.end))

    def range(self, place: Place) -> types.Range:
        """Return the range of a place; one whose end is not known goes to the end of its line."""
        start = self.position(place.line, place.column)
        if place.end_line is None or place.end_column is None:
            return types.Range(start, self.position(place.line, len(self.lines[start.line]) + 1))
        return types.Range(start, self.position(place.end_line, place.end_column))
