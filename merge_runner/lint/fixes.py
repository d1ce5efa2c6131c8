"""Puts fixes into a text."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merge_runner.lint.finding import Edit, Fix
from merge_runner.text import SourceText, Span


@dataclass(frozen=True)
class FixResult:
    """The text with the fixes that were applied, and those that were not; both in the order that they were given in."""

    text: str
    applied: tuple[Fix, ...]
    skipped: tuple[Fix, ...]


def apply(source: SourceText, fixes: Sequence[Fix], unsafe: bool = False) -> FixResult:
    """Applies the safe fixes, and with `unsafe` all.

    A fix is applied with all its edits or not at all. Where two touch the same characters, or insert at the same place,
    the first is applied and the other skipped; an equal one counts as applied. A fix with an edit in another file, or
    with a range that ends before it begins, is skipped.
    """
    accepted = _Edits()
    applied: list[Fix] = []
    skipped: list[Fix] = []
    for fix in fixes:
        edits = _edits(source, fix) if unsafe or fix.applicability == "safe" else None
        if edits is not None and accepted.take(edits):
            applied.append(fix)
        else:
            skipped.append(fix)
    pieces = []
    at = 0
    for span in accepted.spans:
        pieces += [source.text[at : span.start], accepted.contents[span]]
        at = span.end
    return FixResult("".join([*pieces, source.text[at:]]), tuple(applied), tuple(skipped))


class _Edits:
    """Contents by ranges that do not meet; `spans` are the ranges in order."""

    def __init__(self) -> None:
        self.contents: dict[Span, str] = {}
        self.spans: list[Span] = []

    def take(self, edits: Mapping[Span, str]) -> bool:
        """Adds all the edits; none, and False, where one meets another that is not the same."""
        if edits.items() <= self.contents.items():
            return True
        if any(self._meets(span) for span in edits):
            return False
        self.contents.update(edits)
        for span in edits:
            insort(self.spans, span)
        return True

    def _meets(self, span: Span) -> bool:
        """Whether a range here shares a character with `span`, is equal, or one is a place inside the other."""
        # The ranges here are apart: where any of them meets `span`, one next to its place does.
        at = bisect_left(self.spans, span)
        around = self.spans[max(at - 1, 0) : at + 1]
        return any(other == span or (other.start < span.end and span.start < other.end) for other in around)


def _edits(source: SourceText, fix: Fix) -> dict[Span, str] | None:
    """What a fix puts where; None where it cannot be applied."""
    edits = _Edits()
    for edit in fix.edits:
        span = _span(source, edit)
        if span is None or not edits.take({span: edit.content}):
            return None
    return edits.contents


def _span(source: SourceText, edit: Edit) -> Span | None:
    place = edit.place
    start = source.offset(place.line, place.column)
    end = start
    if place.end_line is not None and place.end_column is not None:
        end = source.offset(place.end_line, place.end_column)
    return Span(start, end) if place.path == source.path and start <= end else None
