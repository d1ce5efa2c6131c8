"""The map from rendered text back to the author's text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from merge_runner.text import Span


class TooLongError(ValueError):
    """A rendered text has too many characters; `origin` is that of the piece with which it got them."""

    def __init__(self, origin: int) -> None:
        super().__init__(origin)
        self.origin = origin


@dataclass(frozen=True)
class SourceMap:
    """Where each piece of a rendered text came from.

    Piece i begins at the rendered offset `starts[i]`. An origin of 0 or more is the source offset of the piece's first
    character, and the piece is the author's text, character for character. A negative origin, -1 - k, says that the
    tag `tags[k]` (`{{ … }}` or `{% … %}`) produced the piece.
    """

    starts: tuple[int, ...]
    origins: tuple[int, ...]
    tags: tuple[Span, ...]

    def span(self, start: int, end: int | None = None) -> Span:
        """The source span of the rendered range; without `end`, the empty span where the text at `start` came from.

        What a tag produced maps to the tag: its start, or for the range's end, its end.
        """
        first = self._start(start)
        if end is None:
            return Span(first, first)
        last = self._end(end) if end > start else first
        # A loop can put later text of the file first; the range then shrinks to where its start came from.
        return Span(first, last) if last >= first else Span(first, self._end(start + 1))

    def part(self, start: int, end: int) -> SourceMap:
        """Return the map of the rendered range `start` to the exclusive `end`, as a separate text."""
        if not self.starts or start >= end:
            return SourceMap((), (), ())
        first, last = self._piece(start), self._piece(end - 1)
        origin = self.origins[first]
        begin = origin + start - self.starts[first] if origin >= 0 else origin
        starts = (0, *(piece_start - start for piece_start in self.starts[first + 1 : last + 1]))
        return SourceMap(starts, (begin, *self.origins[first + 1 : last + 1]), self.tags)

    def is_authored(self, start: int, end: int) -> bool:
        """Whether every character of the rendered range is the author's own, in one run of the source."""
        if not self.starts or start >= end:
            return False
        first, last = self._piece(start), self._piece(end - 1)
        if any(origin < 0 for origin in self.origins[first : last + 1]):
            return False
        return self._start(start) + (end - 1 - start) == self._start(end - 1)

    def _piece(self, offset: int) -> int:
        return max(bisect_right(self.starts, offset) - 1, 0)

    def _start(self, offset: int) -> int:
        if not self.starts:
            return 0
        piece = self._piece(offset)
        origin = self.origins[piece]
        return origin + offset - self.starts[piece] if origin >= 0 else self.tags[-1 - origin].start

    def _end(self, offset: int) -> int:
        if not self.starts:
            return 0
        piece = self._piece(offset - 1)
        origin = self.origins[piece]
        return origin + offset - self.starts[piece] if origin >= 0 else self.tags[-1 - origin].end


def mapped(chunks: Iterable[str | int], tags: tuple[Span, ...], longest: int) -> tuple[str, SourceMap]:
    """Return the text of chunks, before each of which its origin comes, and where it came from.

    Raises TooLongError where it has more than `longest` characters.
    """
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = origin = 0
    for chunk in chunks:
        if isinstance(chunk, int):
            origin = chunk
        elif chunk:
            pieces.append(chunk)
            starts.append(length)
            origins.append(origin)
            length += len(chunk)
            if length > longest:
                raise TooLongError(origin)
    return "".join(pieces), SourceMap(tuple(starts), tuple(origins), tags)
