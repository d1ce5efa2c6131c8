"""What is shown of MERGEs outside of models: in plain SQL, in strings and calls of Python and Scala, in notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from merge_runner.lint.report import ReportedMerge
from merge_runner.lsp.answers.hover import Hover
from merge_runner.lsp.answers.inlay_hints import InlayHint, verdict_label
from merge_runner.lsp.answers.verdict_text import condition_line, reported_text
from merge_runner.lsp.documents.remark import Diagnosis
from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.text import SourceText, Span

_INTO = re.compile(r"merge\s+(?:with\s+schema\s+evolution\s+)?into(?:[ \t]+[\w.`${}]+)?", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def merge_hover(text: str, diagnosis: Diagnosis, offset: int) -> Hover | None:
    """Return the verdict on the MERGE whose first words a cursor is in, or what its condition does there."""
    source = SourceText("", text)
    for merge in diagnosis.merges:
        for span, markdown in _describe(source, merge):
            if span.start <= offset < span.end:
                return Hover(diagnosis.conceal(markdown), span)
    return None


def _describe(source: SourceText, merge: ReportedMerge) -> Iterator[tuple[Span, str]]:
    yield _head(source, merge), reported_text(merge)
    for conjunct in merge.conjuncts:
        start, conjunct_text = source.offset(conjunct.line, conjunct.column), as_written(conjunct.text)
        if source.text.startswith(conjunct_text, start):  # else parts of it are elsewhere
            yield (
                Span(start, start + len(conjunct_text)),
                condition_line(conjunct.prunes, conjunct.text, conjunct.reason),
            )


def merge_hints(text: str, diagnosis: Diagnosis, start: int, end: int) -> list[InlayHint]:
    """Return the verdicts on the MERGEs in a range of a text: after `merge into`, for a call at the end of its line."""
    source = SourceText("", text)
    hints = []
    for merge in diagnosis.merges:
        at = _head(source, merge).end
        if merge.container == "builder":
            at = source.offset(merge.line, len(text.split("\n")[merge.line - 1]) + 1)
        label = verdict_label(merge.verdict, merge.scans_all_on_purpose)
        hints.append(InlayHint(at, label, diagnosis.conceal(reported_text(merge))))
    return [hint for hint in hints if start <= hint.offset <= end]


def _head(source: SourceText, merge: ReportedMerge) -> Span:
    start = source.offset(merge.line, merge.column)
    match = _INTO.match(source.text, start) or _WORD.match(source.text, start)
    return Span(start, match.end() if match is not None else start)
