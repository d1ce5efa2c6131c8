"""Compiled SQL in pieces: the author's own text, what a tag of Jinja produced, and what the runner put in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from merge_runner.template.rendered_text import RenderedText

Origin = Literal["author", "jinja", "runner"]
Piece = tuple[Origin, str]

_MOST_WORDS = 4_000
"""Words in which two texts may differ and are still compared word by word: the comparison is quadratic."""


def rendered_pieces(rendered: RenderedText) -> list[Piece]:
    """Return a rendered text as its source map has it."""
    starts = rendered.map.starts
    pieces: list[Piece] = []
    for start, end, origin in zip(starts, (*starts[1:], len(rendered.text)), rendered.map.origins, strict=True):
        pieces.append(("author" if origin >= 0 else "jinja", rendered.text[start:end]))
    return join_pieces(pieces) if starts else join_pieces([("author", rendered.text)])


def run_pieces(compiled: str, run: str) -> list[Piece]:
    """Return the text that ran, with what the compiled text does not have as the runner's."""
    before, after = _words(compiled), _words(run)
    first = _equal(before, after)
    last = _equal(before[first:][::-1], after[first:][::-1])
    middle = after[first : len(after) - last]
    middle_pieces: Iterator[Piece] | list[Piece]
    if len(middle) + len(before) - first - last > _MOST_WORDS:
        middle_pieces = [("runner", "".join(middle))]
    else:
        middle_pieces = _compare(before[first : len(before) - last], middle)
    return join_pieces(
        [("author", "".join(after[:first])), *middle_pieces, ("author", "".join(after[len(after) - last :]))]
    )


def join_pieces(pieces: list[Piece]) -> list[Piece]:
    """Return pieces of which no two in a row have one origin, and none is empty."""
    merged: list[Piece] = []
    for origin, text in pieces:
        if not text:
            continue
        if merged and merged[-1][0] == origin:
            merged[-1] = (origin, merged[-1][1] + text)
        else:
            merged.append((origin, text))
    return merged


def _equal(before: list[str], after: list[str]) -> int:
    """How many words are equal at the beginning of both."""
    pairs = zip(before, after, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)


def _compare(before: list[str], after: list[str]) -> Iterator[Piece]:
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        yield ("author" if kind == "equal" else "runner"), "".join(after[start:end])
