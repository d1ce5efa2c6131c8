"""A text that an editor shows next to the files of a project, such as a rendered MERGE, with its ways back to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.plan.load.project_context import Prepared
from merge_runner.template.rendered_text import RenderedText
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


def plain_view(name: str, merges: Sequence[RenderedText]) -> View | None:
    """Return the SQL of MERGEs, one after the other; None where there is none.

    What only the code knows that runs is as the author wrote it: `{day}`.
    """
    text, links = "", []
    for merge in merges:
        text += ";\n\n" if text else ""
        source_map = merge.map
        for start, end, origin in zip(
            source_map.starts, (*source_map.starts[1:], len(merge.text)), source_map.origins, strict=True
        ):
            whole = merge.text[start:end]
            piece = as_written(whole)
            for span in line_spans(piece, 0, len(piece)):
                # the parts of one that is another than in the text are not known: it leads to its beginning
                inner = Span(start + span.start, start + span.end) if piece == whole else Span(start, end)
                place = merge.place(inner.start, inner.end)
                moved = Span(len(text) + span.start, len(text) + span.end)
                links.append(Link(moved, place, is_copy=origin >= 0 and piece == whole))
            text += piece
    return View(f"{name} (compiled)", text + ";\n", tuple(links)) if text else None
