"""The text of a MERGE as it runs: the author's text with what was spliced into it, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from merge_runner.merge.splice import splice
from merge_runner.text import Span


@dataclass
class RewrittenMerge:
    """A MERGE as it runs: `edits` of the author's text, bounds as text by column, versions of inputs by table.

    `condition` is what they are in SQL. `left_out` says why there are no bounds, or not all; `news` are those of these
    reasons that only this run could find out, and that are not so on every run; `staged`: the source was
    computed before. `not_fixed` says why the source was not fixed, where that was wanted: it may be read twice.
    """

    text: str
    edits: list[tuple[Span, str]] = field(default_factory=list)
    bounds: dict[str, str] = field(default_factory=dict)
    pins: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    news: list[str] = field(default_factory=list)
    staged: bool = False
    condition: str | None = None
    not_fixed: str | None = None

    @property
    def sql(self) -> str:
        """The text that runs."""
        return splice(self.text, self.edits)

    def piece(self, span: Span) -> str:
        """Return what the text that runs has in place of a span of the author's text."""
        return splice(span.of(self.text), self.edits_in(span))

    def edits_in(self, span: Span) -> list[tuple[Span, str]]:
        """The edits inside a span of the author's text, counted from its start."""
        return [
            (Span(edit.start - span.start, edit.end - span.start), text)
            for edit, text in self.edits
            if span.start <= edit.start and edit.end <= span.end
        ]
