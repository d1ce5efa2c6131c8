"""A finding: one thing that a rule has to say, with its place in the author's file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from merge_runner.text import Place

RULES_SITE = "https://merge-runner.github.io/merge-runner/reference/rules/"
"""Where the site of the documentation has a page for each rule."""

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
Applicability = Literal["safe", "unsafe"]


@dataclass(frozen=True)
class Edit:
    """Text to put in the place of a range of the author's file. `place` has an end; an empty range inserts."""

    place: Place
    content: str


@dataclass(frozen=True)
class Fix:
    """A change that ends the finding. `safe`: the MERGE does the same as before, or what it was clearly meant to do."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = "unsafe"

    def as_json(self) -> dict[str, Any]:
        """The value of `fix` in the JSON output."""
        return {
            "message": self.message,
            "applicability": self.applicability,
            "edits": [
                {
                    "line": edit.place.line,
                    "column": edit.place.column,
                    "end_line": edit.place.end_line,
                    "end_column": edit.place.end_column,
                    "content": edit.content,
                }
                for edit in self.edits
            ],
        }


@dataclass(frozen=True)
class Finding:
    """What a rule found. `place` has an end wherever one is known; `model` None: a plain file, or the project.

    `hint` says what to do. `subject` is the text that the finding is about, with blanks made one: it is part of the
    key by which a baseline knows the finding again when lines have moved.
    """

    code: str
    name: str
    severity: Severity
    message: str
    place: Place
    model: str | None = None
    hint: str | None = None
    fix: Fix | None = None
    subject: str = ""
    page: str | None = None
    """The URL that explains a rule of another package; None for the rules of merge-runner."""
    merge: Place | None = field(default=None, compare=False)
    """Where the MERGE that it is about begins; None: it is about a file or the project."""
    replaced: tuple[tuple[str, Place], ...] = field(default=(), compare=False)
    """Code and place of the findings on the same MERGE that it has replaced, as they have the same cause."""

    @property
    def codes(self) -> tuple[str, ...]:
        """Its code, and those of the findings that it has replaced."""
        return tuple(dict.fromkeys((self.code, *(code for code, _ in self.replaced))))

    @property
    def key(self) -> str:
        """What stays the same when lines move: rule, file, model and the text that it is about."""
        parts = "\0".join((self.code, self.place.path, self.model or "", " ".join(self.subject.split())))
        return hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()[:20]

    @property
    def url(self) -> str:
        """Return where the rule is explained; empty where its package does not say."""
        if self.page is not None:
            return self.page
        return f"{RULES_SITE}{self.code}.html"

    def as_json(self) -> dict[str, Any]:
        """The entry of `findings` in the JSON output."""
        place = self.place
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "model": self.model,
            "path": place.path,
            "line": place.line,
            "column": place.column,
            "cell": place.cell,
            "end_line": place.end_line if place.end_line is not None else place.line,
            "end_column": place.end_column if place.end_column is not None else place.column,
            "fix": self.fix.as_json() if self.fix else None,
            "url": self.url,
        }
