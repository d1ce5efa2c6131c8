"""The MERGEs of a text outside of models as Spark gets them, and where each part is written."""

from __future__ import annotations

from collections.abc import Sequence

from merge_runner.lsp.answers.view import Link, View, line_spans
from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import Span


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
