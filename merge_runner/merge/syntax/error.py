"""What `parse` raises for a text that Spark would not parse as one MERGE."""

from __future__ import annotations

from typing import Literal

from merge_runner.text import Span

ErrorKind = Literal["syntax", "unreachable", "insert", "unsupported"]
"""`unreachable`: an unconditional clause in front of another of its kind; `insert`: INSERT has another number of values
than of columns; `unsupported`: a construct of another system that Spark does not have; `syntax`: anything else."""


class MergeSyntaxError(Exception):
    """Spark's parser would refuse the text.

    `message` says what is wrong in one sentence without a full stop, `span` covers the offending words (empty at the
    end of the text), `hint` says what to write instead, `kind` what sort of mistake it is.
    """

    def __init__(self, message: str, span: Span, hint: str | None = None, *, kind: ErrorKind = "syntax") -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint
        self.kind: ErrorKind = kind
