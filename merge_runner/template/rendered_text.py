"""A rendered file: the SQL text, what the file said about itself, and the way back to the author's lines."""

from __future__ import annotations

from dataclasses import dataclass, replace

from merge_runner.template.capture import Capture
from merge_runner.template.source_map import SourceMap
from merge_runner.text import Place, SourceText


@dataclass(frozen=True, slots=True)
class Log:
    """What a template said with `log(message, info)`; `info` asks for it to be shown, not only logged."""

    message: str
    info: bool
    place: Place


@dataclass(frozen=True)
class RenderedText:
    """The text that the engine gets, byte for byte, and where each of its characters came from."""

    source: SourceText
    text: str
    captured: Capture
    map: SourceMap
    logs: tuple[Log, ...] = ()

    @classmethod
    def plain(cls, source: SourceText) -> RenderedText:
        """Return a file that is taken as it is, without Jinja."""
        return cls(source, source.text, Capture(), SourceMap((0,), (0,), ()))

    def part(self, start: int, end: int) -> RenderedText:
        """Return the range `start` to the exclusive `end` of the text, such as a statement of a script."""
        return replace(self, text=self.text[start:end], map=self.map.part(start, end))

    def place(self, start: int, end: int | None = None) -> Place:
        """The place in the author's file of the rendered offsets `start` to the exclusive `end`.

        The author's own text maps exactly; what an expression, a macro or a captured block produced maps to the tag
        that put it there.
        """
        span = self.map.span(start, end)
        return self.source.place(span.start, None if end is None else span.end)
