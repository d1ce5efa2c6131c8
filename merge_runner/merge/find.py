"""Whether a model file holds a MERGE, told from its raw text in microseconds."""

from __future__ import annotations

import re

from merge_runner.text import Span

_JINJA = r"\{\#.*?\#\}|\{%.*?%\}|\{\{.*?\}\}"
_LINE_COMMENT = r"--(?:\\\n|[^\r\n])*"
_GAP = rf"(?:\s|{_JINJA}|{_LINE_COMMENT}|/\*.*?\*/)+"
_WORDS = re.compile(
    rf"""
      {_JINJA} | {_LINE_COMMENT}
    | '[^'\\]*(?:\\.[^'\\]*)*' | "[^"\\]*(?:\\.[^"\\]*)*" | `[^`]*`
    | (?P<comment>/\*)
    | (?P<merge>(?<![\w.])MERGE{_GAP}(?:WITH{_GAP}SCHEMA{_GAP}EVOLUTION{_GAP})?INTO(?!\w))
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_MERGE = re.compile("merge", re.IGNORECASE)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def holds_merge(text: str) -> bool:
    """Whether `text`, SQL that may hold Jinja, has the words MERGE [WITH SCHEMA EVOLUTION] INTO.

    Words inside comments (SQL and Jinja), strings, quoted names and Jinja tags do not count; between the words all of
    these may stand. Nothing is parsed, so a text that answers True may still be no valid statement.
    """
    return find_merge(text) is not None


def find_merge(text: str) -> Span | None:
    """Return the span of the words MERGE … INTO that `holds_merge` is about; None where there are none."""
    if _MERGE.search(text) is None:
        return None
    at = 0
    while (found := _WORDS.search(text, at)) is not None:
        if found["merge"] is not None:
            return Span(*found.span("merge"))
        at = _comment_end(text, found.start()) if found["comment"] is not None else found.end()
    return None


def _comment_end(text: str, start: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)
