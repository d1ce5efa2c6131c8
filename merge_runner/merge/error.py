"""What `parse` raises for a text that Spark would not parse as one MERGE."""

from __future__ import annotations

from merge_runner.text import Span


class MergeSyntaxError(Exception):
    """Spark's parser would refuse the text.

    `message` says what is wrong in one sentence without a full stop, `span` covers the offending words (empty at the
    end of the text), `hint` says what to write instead.
    """

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint
