"""A text put together from pieces of files, with the place that each piece came from."""

from __future__ import annotations

import textwrap
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from merge_runner.merge.find import find_merge
from merge_runner.merge.syntax.placeholder import placeholder
from merge_runner.template.capture import Capture
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.source_map import SourceMap
from merge_runner.text import SourceText, Span


class Origin(NamedTuple):
    """Where a character came from: the range [start, end) of the file with number `source`.

    `exact`: it is the one character there; else the range is of an escape or an expression that gave it.
    """

    source: int
    start: int
    end: int
    exact: bool = False


@dataclass(frozen=True)
class PiecedText:
    """A text and where it came from, piece by piece: a cell may have millions of characters.

    Piece i begins at `starts[i]`, and `origins[i]` is that of its first character: where it is exact, the next ones of
    the piece are next to it in the file, else they are of the same range.
    """

    text: str = ""
    starts: tuple[int, ...] = ()
    origins: tuple[Origin, ...] = ()

    @classmethod
    def written(cls, text: str, source: int, start: int) -> PiecedText:
        """Return text that is in the file as it is, from offset `start` on."""
        return cls._piece(text, Origin(source, start, start + 1, exact=True))

    @classmethod
    def of(cls, rendered: RenderedText) -> PiecedText:
        """Return the text of a rendered file, which has the number 0."""
        starts = (0, *(start for start in rendered.map.starts[1:] if start < len(rendered.text)))
        return cls.join(
            cls._piece(
                rendered.text[start:end],
                Origin(0, *_ends(rendered.map.span(start, start + 1)), rendered.map.is_authored(start, start + 1)),
            )
            for start, end in zip(starts, (*starts[1:], len(rendered.text)), strict=True)
        )

    @classmethod
    def from_origin(cls, text: str, origin: Origin) -> PiecedText:
        """Return text that the range `origin` of a file gives."""
        return cls._piece(text, origin._replace(exact=False))

    @classmethod
    def mark(cls, character: str, origin: Origin) -> PiecedText:
        """Return one character with the origin of another."""
        return cls._piece(character, origin)

    @classmethod
    def _piece(cls, text: str, origin: Origin) -> PiecedText:
        return cls(text, (0,), (origin,)) if text else cls()

    @classmethod
    def filled(cls, spelling: str, origin: Origin) -> PiecedText:
        """Return the placeholder of what is known at run time only."""
        return cls.from_origin(placeholder(spelling), origin)

    @classmethod
    def join(cls, parts: Iterable[PiecedText]) -> PiecedText:
        """Return the parts one after the other."""
        texts: list[str] = []
        starts: list[int] = []
        origins: list[Origin] = []
        length = 0
        for part in parts:
            for start, origin in zip(part.starts, part.origins, strict=True):
                if not starts or origin != _after(origins[-1], length + start - starts[-1]):
                    starts.append(length + start)
                    origins.append(origin)
            texts.append(part.text)
            length += len(part.text)
        return cls("".join(texts), tuple(starts), tuple(origins))

    def __add__(self, other: PiecedText) -> PiecedText:
        return PiecedText.join((self, other))

    def __bool__(self) -> bool:
        return bool(self.text)

    def cut(self, start: int, end: int | None = None) -> PiecedText:
        """Return the part from `start` to the exclusive `end`."""
        start, end, _ = slice(start, end).indices(len(self.text))
        if start >= end:
            return PiecedText()
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1)
        starts = (0, *(offset - start for offset in self.starts[first + 1 : last]))
        return PiecedText(self.text[start:end], starts, (self.origin(start), *self.origins[first + 1 : last]))

    def origin(self, at: int) -> Origin:
        """Return the origin of the character at an offset. Raises IndexError where there is none."""
        if not 0 <= at < len(self.text):
            raise IndexError(at)
        piece = bisect_right(self.starts, at) - 1
        return _after(self.origins[piece], at - self.starts[piece])

    def at(self, origin: Origin) -> PiecedText:
        """Return the same text as something that the range `origin` gives, as an expression in an f-string does."""
        return PiecedText.from_origin(self.text, origin)

    def strip(self, chars: str | None = None) -> PiecedText:
        """Return the text without blanks, or without `chars`, around it."""
        return self.lstrip(chars).rstrip(chars)

    def lstrip(self, chars: str | None = None) -> PiecedText:
        """Return the text without what is in front of it."""
        return self.cut(len(self.text) - len(self.text.lstrip(chars)))

    def rstrip(self, chars: str | None = None) -> PiecedText:
        """Return the text without what is after it."""
        return self.cut(0, len(self.text.rstrip(chars)))

    def replace(self, old: str, new: PiecedText) -> PiecedText:
        """Return the text with `new` in place of each `old`."""
        if not old:
            return self
        parts, at = [], 0
        while (start := self.text.find(old, at)) >= 0:
            parts += [self.cut(at, start), new]
            at = start + len(old)
        return PiecedText.join([*parts, self.cut(at)])

    def edited(self, edits: Iterable[tuple[Span, PiecedText]]) -> PiecedText:
        """Return the text with each span, in their order, replaced."""
        parts, at = [], 0
        for span, new in edits:
            parts += [self.cut(at, span.start), new]
            at = span.end
        return PiecedText.join([*parts, self.cut(at)])

    def dedent(self, strip_margin: str | None = None) -> PiecedText:
        """Return what `textwrap.dedent` makes of it, or Scala's `stripMargin` with its character."""
        lines = list(self._lines())
        if strip_margin is not None:
            cuts = [_margin(line.text, strip_margin) for line in lines]
            return PiecedText.join(line.cut(cut) for line, cut in zip(lines, cuts, strict=True))
        dedented = textwrap.dedent(self.text).split("\n")
        parts = []
        for line, text in zip(lines, dedented, strict=True):
            end = line.text.endswith("\n")
            start = len(line.text) - end - len(text)
            parts.append(line.cut(start))
        return PiecedText.join(parts)

    def _lines(self) -> Iterator[PiecedText]:
        at = 0
        for line in self.text.split("\n"):
            end = min(at + len(line) + 1, len(self.text))
            yield self.cut(at, end)
            at = end

    def render(self, sources: Sequence[SourceText]) -> RenderedText:
        """Return the text as Spark gets it, in the file of its MERGE; what comes from others maps to its neighbour."""
        merge = find_merge(self.text)
        main = self.origin(merge.start if merge is not None else 0).source
        starts: list[int] = []
        pieces: list[int] = []
        tags: list[Span] = []
        before: Origin | None = None
        for at, origin in self._in_source(main):
            if before is None or origin != _after(before, at - starts[-1]):
                starts.append(at)
                before = origin
                if origin.exact:
                    pieces.append(origin.start)
                else:
                    pieces.append(-1 - len(tags))
                    tags.append(Span(origin.start, origin.end))
        return RenderedText(sources[main], self.text, Capture(), SourceMap(tuple(starts), tuple(pieces), tuple(tags)))

    def _in_source(self, main: int) -> Iterator[tuple[int, Origin]]:
        """The pieces, those of other files as nothing at the end of what comes before them."""
        end = next(origin.start for origin in self.origins if origin.source == main)
        for start, stop, origin in zip(self.starts, (*self.starts[1:], len(self.text)), self.origins, strict=True):
            if origin.source == main:
                yield start, origin
                end = origin.start + stop - start if origin.exact else origin.end
            else:
                yield start, Origin(main, end, end)


def _after(origin: Origin, characters: int) -> Origin:
    """The origin of a character of the same piece, so many after another."""
    if not origin.exact:
        return origin
    return origin._replace(start=origin.start + characters, end=origin.end + characters)


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _margin(line: str, margin: str) -> int:
    """The number of characters up to and with the margin at the beginning of a line; 0 where it has none."""
    blanks = len(line) - len(line.lstrip(" \t"))
    return blanks + 1 if line.startswith(margin, blanks) else 0
