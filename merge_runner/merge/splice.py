"""Puts text into a text at spans, leaving every other character as it is."""

from __future__ import annotations

from collections.abc import Iterable

from merge_runner.text import Span


def origin(edits: Iterable[tuple[Span, str]], offset: int) -> int | None:
    """The offset in the text before `splice` of an offset in the text after it; None inside what was put in."""
    shift = 0
    for span, replacement in sorted(edits, key=lambda edit: (edit[0].start, edit[0].end)):
        start = span.start + shift
        if offset < start:
            break
        if offset < start + len(replacement):
            return None
        shift += len(replacement) - (span.end - span.start)
    return offset - shift


def splice(text: str, edits: Iterable[tuple[Span, str]]) -> str:
    """`text` with each span replaced by its string; an empty span inserts in front of its offset.

    Spans are offsets in `text`, in any order; insertions at one offset keep the order in which they are given, in
    front of a replacement that begins there. Raises ValueError when two spans overlap, when an insertion lies inside
    a replaced span, or when a span is not a range of the text.
    """
    ordered = sorted(edits, key=lambda edit: (edit[0].start, edit[0].end))
    parts: list[str] = []
    copied = 0
    for span, replacement in ordered:
        if not 0 <= span.start <= span.end <= len(text):
            raise ValueError(f"{span} is no range of a text of {len(text)} characters")
        if span.start < copied:
            raise ValueError(f"{span} overlaps an edit that ends at {copied}")
        parts += (text[copied : span.start], replacement)
        copied = span.end
    parts.append(text[copied:])
    return "".join(parts)
