"""Hints between the words of a model: the verdict at MERGE INTO, and the columns of `*`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from merge_runner.lsp.answers.verdict_text import columns_text, verdict_text
from merge_runner.lsp.documents.known_project import KnownProject
from merge_runner.lsp.documents.query_columns import Columns
from merge_runner.lsp.documents.unsaved import unsaved
from merge_runner.lsp.syntax.statements import statements
from merge_runner.pruning.verdict import Verdict

_SHOWN = 4
"""As many columns of `*` are named."""


@dataclass(frozen=True)
class InlayHint:
    """A label at `offset`; `markdown` is shown when the pointer is over it."""

    offset: int
    label: str
    markdown: str


def inlay_hints(project: KnownProject, path: str, text: str, start: int, end: int) -> list[InlayHint]:
    """Return the hints in a range of a model."""
    found = [*_verdict(project, path, text), *_stars(project, path, text)]
    return [hint for hint in found if start <= hint.offset <= end]


def _verdict(project: KnownProject, path: str, text: str) -> Iterator[InlayHint]:
    merge = statements(text).merge
    if merge is None or merge.target is None:
        return
    judged = unsaved(project, path, text).merge
    if judged is not None:
        meant = judged.judgement.verdict == "none" and judged.scans_all_on_purpose
        label = verdict_label(judged.judgement.verdict, meant)
        yield InlayHint(merge.target.span.end, label, project.prepared.conceal(verdict_text(judged)))


def verdict_label(verdict: Verdict, meant: bool) -> str:
    """Return the label that shows a verdict; `meant`: a scan of all files is on purpose."""
    return f"scan: {verdict}{' (meant)' if meant else ''}"


def _stars(project: KnownProject, path: str, text: str) -> Iterator[InlayHint]:
    here = project.model_at(path)
    read = statements(text)
    for select in read.selects:
        for output in select.outputs:
            if output.star:
                yield from _star(project.star_columns(select, output.qualifier, here), output.span.end)
    merge = read.merge
    if merge is None or len(merge.relations) < 2:
        return
    tokens = [token for token in read.scan.tokens if token.tag < 0 and token.kind != "comment"]
    for before, token in pairwise(tokens):
        if token.text == "*" and before.text.lower() in ("set", "insert") and token.start >= merge.span.start:
            yield from _star(project.relation_columns(merge.relations[1], here), token.end)


def _star(columns: Columns, offset: int) -> Iterator[InlayHint]:
    names = [column.name for column in columns.found]
    if names:
        shown = ", ".join(names[:_SHOWN])
        more = f", … {len(names)} columns" if len(names) > _SHOWN else ""
        yield InlayHint(offset, shown + more + ("" if columns.complete else ", …"), columns_text(columns))
