"""Offsets in a text, and the positions of the protocol, which counts in units that the client chooses."""

from __future__ import annotations

from lsprotocol import types
from pygls.workspace import PositionCodec

from merge_runner.text import Place, SourceText, Span, as_source


class Positions:
    """A text as the client has it; offsets count the characters of `text`, which has newlines as `\\n`."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.text = as_source(text)
        self._source = SourceText("", self.text)
        self._codec = codec

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position of the client; one after the end of a line means its end."""
        line = self._source.line(position.line + 1)
        units = column = 0
        while column < len(line) and units < position.character:
            units += self._codec.client_num_units(line[column])
            column += 1
        return self._source.offset(position.line + 1, column + 1)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        place = self._source.place(offset)
        return self._position(place.line, place.column)

    def range(self, span: Span) -> types.Range:
        """Return the range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def place_range(self, place: Place) -> types.Range:
        """Return the range of a place; an empty one where only the start is known."""
        start = self._position(place.line, place.column)
        if place.end_line is None or place.end_column is None:
            return types.Range(start, start)
        return types.Range(start, self._position(place.end_line, place.end_column))

    def _position(self, line: int, column: int) -> types.Position:
        return types.Position(line - 1, self._codec.client_num_units(self._source.line(line)[: column - 1]))
