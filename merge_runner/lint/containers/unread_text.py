"""Words of a MERGE that no reader takes for a statement: a file that holds one is not passed over without a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from merge_runner.lint.containers.contents import has_words
from merge_runner.merge.find import find_merge
from merge_runner.merge.syntax.lexer import scan
from merge_runner.text import Span

_INTO = re.compile(
    r"(?<![\w.])(?:(?<!\\)|(?<=\\n)|(?<=\\t))merge(?:\s|\\[nrt])+(?:with\s+schema\s+evolution\s+)?into\b"
    r"|(?<=\\[nrt])merge(?:\s|\\[nrt])+into\b",
    re.IGNORECASE,
)
IN_CODE = re.compile(
    r"merge[\s\"'+\\]+(?:[rfu]{1,2}[\"']\s*)?(?:with\s+schema|into)|when(?:not)?matched|mergeInto", re.IGNORECASE
)
"""What a file of code has in it that may hold a MERGE: its words may be in strings that are joined."""
_BEGINS = re.compile(r"\W*(?:MERGE\s+INTO|merge\s+into)\b")
_TARGET_ENDS = re.compile(r"\W*(?:MERGE|merge)\s+(?:INTO|into)\s+(?P<target>\S+)(?:\s+(?:AS\s+|as\s+)?\w+)?\W*\Z")
"""A text that ends behind a target."""
_NO_PROSE = re.compile(r"[.{%$]")
"""What is in a target, and in no word of prose: a dot or a placeholder."""
_USING = re.compile(r"(?:\b|(?<=\\n))using\b", re.IGNORECASE)
_MATCHED = re.compile(r"(?:\b|(?<=\\n))when(?:\s|\\[nrt])+(?:not\s+)?matched\b", re.IGNORECASE)
_LONGEST_LINE = 400
_MOST = 1000
"""Places that are looked at: code of a stranger may have any number of them."""
_QUOTE = re.compile(r"[\"'`]\s*\Z")
_COMMENT = re.compile(r"^\s*\*|(?:^|\s)(?:#|//|--|/\*)")
"""How comments begin in most languages, or go on in a line of a block."""


def merge_in_code(text: str, *, is_data: bool = False) -> Span | None:
    """Return the words of the first MERGE in a text in a language that lint does not know; None where there is none.

    It has USING and WHEN MATCHED after it or, but in data, begins a string: prose that mentions one is passed over, and
    so is a line after the mark of a comment.
    """
    clauses = _last_clauses(text)
    for into in islice(_INTO.finditer(text), _MOST):
        since = max(into.start() - _LONGEST_LINE, 0)
        line = text[max(text.rfind("\n", since, into.start()) + 1, since) : into.start()]
        if _COMMENT.search(line) is not None:
            continue
        if into.end() <= clauses or (not is_data and _QUOTE.search(line) is not None):
            return Span(*into.span())
    return None


def _last_clauses(text: str) -> int:
    """The offset of the last USING that a WHEN comes after; -1 where there is none."""
    whens = [matched.start() for matched in _MATCHED.finditer(text)][-1:]
    return max((using.start() for when in whens for using in _USING.finditer(text, 0, when)), default=-1)


def merge_in_sql(text: str) -> Span | None:
    """Return the words of the first MERGE in a text of SQL with Jinja, in a string only where it is a whole statement.

    None: there is none outside of comments.
    """
    text = without_jinja_comments(text)
    if (words := find_merge(text)) is not None:
        return words
    for token in scan(text):
        if token.kind == "string" and has_words(token.span.of(text), "MERGE", "INTO", "USING", "WHEN"):
            inside = _INTO.search(text, token.start, token.end)
            if inside is not None:
                return Span(*inside.span())
    return None


def merge_in_parts(texts: Sequence[str]) -> int | None:
    """Return the index of the first of the strings of a file that begins a MERGE, whose parts others may be.

    None: there is none, or no other string has what follows its target.
    """
    using, when = (any(words.search(text) is not None for text in texts) for words in (_USING, _MATCHED))
    for i, text in enumerate(texts):
        if _BEGINS.match(text) is not None and ((using and when) or _ends_with_target(text[:_LONGEST_LINE])):
            return i
    return None


def _ends_with_target(text: str) -> bool:
    target = _TARGET_ENDS.match(text)
    return target is not None and _NO_PROSE.search(target["target"]) is not None


def without_jinja_comments(text: str) -> str:
    """Return the text with blanks in place of its Jinja comments."""
    parts, at = [], 0
    while (start := text.find("{#", at)) >= 0 and (end := text.find("#}", start + 2)) >= 0:
        parts += [text[at:start], " " * (end + 2 - start)]
        at = end + 2
    return "".join([*parts, text[at:]])
