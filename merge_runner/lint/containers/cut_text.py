"""A text that is made of ranges of another, such as a cell without the marks at the beginning of its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merge_runner.template.source_map import SourceMap
from merge_runner.text import Place, SourceText, Span


@dataclass(frozen=True)
class CutText(SourceText):
    """Ranges of `origin` as one text; its places are those of `origin`."""

    origin: SourceText
    map: SourceMap

    @classmethod
    def of(cls, origin: SourceText, spans: Sequence[Span]) -> CutText:
        """Return the ranges of a text, which are in order and apart, joined."""
        spans = [span for span in spans if span.start < span.end]
        starts, at = [], 0
        for span in spans:
            starts.append(at)
            at += span.end - span.start
        source_map = SourceMap(tuple(starts), tuple(span.start for span in spans), ())
        text = "".join(span.of(origin.text) for span in spans)
        return cls(origin.path, text, origin=origin, map=source_map, cell=origin.cell)

    def place(self, start: int, end: int | None = None) -> Place:
        span = self.map.span(min(start, len(self.text)), end)
        return self.origin.place(span.start, None if end is None else span.end)
