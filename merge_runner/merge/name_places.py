"""Where the names in a tree of sqlglot are in the author's text."""

from __future__ import annotations

from sqlglot import exp

from merge_runner.text import Span


def names_span(node: exp.Expr, start: int) -> Span | None:
    """Return the range of all names of a tree whose text begins at `start`; None where it has no name with a place."""
    marks = [name.meta for name in node.find_all(exp.Identifier) if "start" in name.meta]
    if not marks:
        return None
    return Span(start + min(mark["start"] for mark in marks), start + max(mark["end"] for mark in marks) + 1)
