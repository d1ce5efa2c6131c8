"""A text put together from pieces of files, each character with the place that it came from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from merge_runner.lazy_dataclass import dataclass
from merge_runner.merge.find import find_merge
from merge_runner.merge.syntax.placeholder import placeholder
from merge_runner.template.captured import Captured
from merge_runner.template.rendered import Rendered
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
class Traced:
    """A text and the origin of each of its characters."""

    text: str = ""
    origins: tuple[Origin, ...] = ()

    @classmethod
    def written(cls, text: str, source: int, start: int) -> Traced:
        """Return text that is in the file as it is, from offset `start` on."""
        return cls(text, tuple(Origin(source, at, at + 1, exact=True) for at in range(start, start + len(text))))

    @classmethod
    def of(cls, rendered: Rendered) -> Traced:
        """Return the text of a rendered file, which has the number 0."""
        found = []
        for at in range(len(rendered.text)):
            span = rendered.map.span(at, at + 1)
            found.append(Origin(0, span.start, span.end, exact=rendered.map.is_authored(at, at + 1)))
        return cls(rendered.text, tuple(found))

    @classmethod
    def made(cls, text: str, origin: Origin) -> Traced:
        """Return text that the range `origin` of a file gives."""
        return cls(text, (origin._replace(exact=False),) * len(text))

    @classmethod
    def filled(cls, spelling: str, origin: Origin) -> Traced:
        """Return the placeholder of what is known at run time only."""
        return cls.made(placeholder(spelling), origin)

    @classmethod
    def joined(cls, parts: Iterable[Traced]) -> Traced:
        """Return the parts one after the other."""
        parts = list(parts)
        return cls("".join(part.text for part in parts), tuple(origin for part in parts for origin in part.origins))

    def __add__(self, other: Traced) -> Traced:
        return Traced(self.text + other.text, self.origins + other.origins)

    def __bool__(self) -> bool:
        return bool(self.text)

    def cut(self, start: int, end: int | None = None) -> Traced:
        """Return the part from `start` to the exclusive `end`."""
        return Traced(self.text[start:end], self.origins[start:end])

    def at(self, origin: Origin) -> Traced:
        """Return the same text as something that the range `origin` gives, as an expression in an f-string does."""
        return Traced.made(self.text, origin)

    def strip(self, chars: str | None = None) -> Traced:
        """Return the text without blanks, or without `chars`, around it."""
        return self.lstrip(chars).rstrip(chars)

    def lstrip(self, chars: str | None = None) -> Traced:
        """Return the text without what is in front of it."""
        return self.cut(len(self.text) - len(self.text.lstrip(chars)))

    def rstrip(self, chars: str | None = None) -> Traced:
        """Return the text without what is after it."""
        return self.cut(0, len(self.text.rstrip(chars)))

    def replace(self, old: str, new: Traced) -> Traced:
        """Return the text with `new` in place of each `old`."""
        if not old:
            return self
        parts, at = [], 0
        while (found := self.text.find(old, at)) >= 0:
            parts += [self.cut(at, found), new]
            at = found + len(old)
        return Traced.joined([*parts, self.cut(at)])

    def edited(self, edits: Iterable[tuple[Span, Traced]]) -> Traced:
        """Return the text with each span, in their order, replaced."""
        parts, at = [], 0
        for span, new in edits:
            parts += [self.cut(at, span.start), new]
            at = span.end
        return Traced.joined([*parts, self.cut(at)])

    def dedent(self, strip_margin: str | None = None) -> Traced:
        """Return what `textwrap.dedent` makes of it, or Scala's `stripMargin` with its character."""
        lines = list(self._lines())
        if strip_margin is not None:
            cuts = [_margin(line.text, strip_margin) for line in lines]
            return Traced.joined(line.cut(cut) for line, cut in zip(lines, cuts, strict=True))
        dedented = textwrap.dedent(self.text).split("\n")
        found = []
        for line, kept in zip(lines, dedented, strict=True):
            end = line.text.endswith("\n")
            start = len(line.text) - end - len(kept)
            found.append(line.cut(start))
        return Traced.joined(found)

    def _lines(self) -> Iterator[Traced]:
        at = 0
        for line in self.text.split("\n"):
            end = min(at + len(line) + 1, len(self.text))
            yield self.cut(at, end)
            at = end

    def rendered(self, sources: Sequence[SourceText]) -> Rendered:
        """Return the text as Spark gets it, in the file of its MERGE; what comes from others maps to its neighbour."""
        merge = find_merge(self.text)
        main = self.origins[merge.start].source if merge is not None else self.origins[0].source
        starts: list[int] = []
        pieces: list[int] = []
        tags: list[Span] = []
        before: Origin | None = None
        for at, origin in enumerate(self._in_source(main)):
            goes_on = (
                before is not None
                and (origin.start == before.start + 1 if origin.exact else origin == before)
                and origin.exact == before.exact
            )
            if not goes_on:
                starts.append(at)
                if origin.exact:
                    pieces.append(origin.start)
                else:
                    pieces.append(-1 - len(tags))
                    tags.append(Span(origin.start, origin.end))
            before = origin
        return Rendered(sources[main], self.text, Captured(), SourceMap(tuple(starts), tuple(pieces), tuple(tags)))

    def _in_source(self, main: int) -> Iterator[Origin]:
        last = next(origin for origin in self.origins if origin.source == main)
        last = Origin(main, last.start, last.start)
        for origin in self.origins:
            if origin.source == main:
                yield origin
                last = Origin(main, origin.end, origin.end)
            else:
                yield last


def _margin(line: str, margin: str) -> int:
    """The number of characters up to and with the margin at the beginning of a line; 0 where it has none."""
    blanks = len(line) - len(line.lstrip(" \t"))
    return blanks + 1 if line.startswith(margin, blanks) else 0
