"""A text that an editor shows next to the files of a project, such as a rendered MERGE, with its ways back to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from merge_runner.plan.load.project_context import Prepared
from merge_runner.text import Place, Span


@dataclass(frozen=True)
class Link:
    """What a range of the text is in a file. `is_copy`: it is the author's own text, character for character."""

    span: Span
    place: Place
    is_copy: bool = False


@dataclass(frozen=True)
class View:
    """A text under a title; `links` in the order of their ranges, which do not overlap."""

    title: str
    text: str
    links: tuple[Link, ...] = ()

    def concealed(self, prepared: Prepared) -> View:
        """Return it without the secrets of a project; a text that had one has no links."""
        text = prepared.conceal(self.text)
        return self if text == self.text else replace(self, text=text, links=())


def line_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the ranges of a part of a text line by line, without blank ones and the blanks around them."""
    for line in text[start:end].splitlines(keepends=True):
        words = line.strip()
        if words:
            begin = start + line.index(words)
            yield Span(begin, begin + len(words))
        start += len(line)
