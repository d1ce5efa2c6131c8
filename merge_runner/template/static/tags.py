"""The lexical shape of Jinja tags, for reading files without Jinja."""

from __future__ import annotations

import re

STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
"""A string inside a tag, as Jinja's lexer takes it."""

OPENING = re.compile(r"\{[{%#]")
"""Where a tag or comment begins. Without a match, a text is its own rendering."""

_CALL_TOKEN = re.compile(rf"{STRING}|['\"].*|[()\[\]{{}}]|(?<!\w)[A-Za-z_]\w*(?=\s*=(?!=))", re.S)


def read_call(text: str, start: int) -> tuple[int, dict[str, int]]:
    """Return the end of the call whose name (or parenthesis) is at `start`, and the offsets of its keywords.

    The end is the offset after the closing parenthesis; `start` for a call that is never closed.
    """
    depth = 0
    keywords: dict[str, int] = {}
    for token in _CALL_TOKEN.finditer(text, start):
        word = token.group()
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth -= 1
            if depth == 0:
                return token.end(), keywords
        elif depth == 1 and word[0] not in "'\"":
            keywords[word] = token.start()
    return start, {}
