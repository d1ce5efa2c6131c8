"""Hints between the words of a model: the verdict at MERGE INTO, and the columns of `*`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from merge_runner.lsp.answers.verdict_text import columns_text, verdict_text
from merge_runner.lsp.documents.project_index import ProjectIndex
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


def inlay_hints(project: ProjectIndex, path: str, text: str, start: int, end: int) -> list[InlayHint]:
    """Return the hints in a range of a model."""
    hints = [*_verdict(project, path, text), *_stars(project, path, text)]
    return [hint for hint in hints if start <= hint.offset <= end]


def _verdict(project: ProjectIndex, path: str, text: str) -> Iterator[InlayHint]:
    merge = statements(text).merge
    if merge is None or merge.target is None:
        return
    unsaved_merge = unsaved(project, path, text).merge
    if unsaved_merge is not None:
        on_purpose = unsaved_merge.judgement.verdict == "none" and unsaved_merge.scans_all_on_purpose
        label = verdict_label(unsaved_merge.judgement.verdict, on_purpose)
        yield InlayHint(merge.target.span.end, label, project.prepared.conceal(verdict_text(unsaved_merge)))


def verdict_label(verdict: Verdict, on_purpose: bool) -> str:
    """Return the label that shows a verdict; `on_purpose`: a scan of all files is meant."""
    return f"scan: {verdict}{' (meant)' if on_purpose else ''}"


def _stars(project: ProjectIndex, path: str, text: str) -> Iterator[InlayHint]:
    here = project.model_at(path)
    syntax = statements(text)
    for select in syntax.selects:
        for output in select.outputs:
            if output.star:
                yield from _star(project.star_columns(select, output.qualifier, here), output.span.end)
    merge = syntax.merge
    if merge is None or len(merge.relations) < 2:
        return
    tokens = [token for token in syntax.scan.tokens if token.tag < 0 and token.kind != "comment"]
    for before, token in pairwise(tokens):
        if token.text == "*" and before.text.lower() in ("set", "insert") and token.start >= merge.span.start:
            yield from _star(project.relation_columns(merge.relations[1], here), token.end)


def _star(columns: Columns, offset: int) -> Iterator[InlayHint]:
    names = [column.name for column in columns.items]
    if names:
        label = ", ".join(names[:_SHOWN])
        more = f", … {len(names)} columns" if len(names) > _SHOWN else ""
        yield InlayHint(offset, label + more + ("" if columns.complete else ", …"), columns_text(columns))
