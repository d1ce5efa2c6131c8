"""Cuts a text into the tokens of Spark SQL, as Spark's own lexer does.

sqlglot's tokenizer is not used for the shape of a statement: it ends a line comment at a backslash, reads `'it''s'` as
two strings and has other keywords. The rules here are those of SqlBaseLexer.g4 of Spark 4.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from merge_runner.merge.find import comment_end
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.placeholder import PLACEHOLDER
from merge_runner.text import Span


class Token(NamedTuple):
    """One token: `start` and `end` (exclusive) are offsets in the text.

    `kind` is `word` (unquoted, may be a keyword), `name` (backquoted, or a word after a dot, or one with a `${…}` in it
    that is replaced), `string`, `number` or `op`. `key` is what the grammar compares: the upper-case word, the
    operator; empty for names, strings and numbers.
    """

    kind: str
    key: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


_BLANK = r"[ \t\n\f\r\v\u00a0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]"
_CLAUSE = r"(?i:when\s+(?:not\s+)?matched\b|then\s+(?:update|delete|insert)\b|(?:using|on|and|or|as)(?=[\s(]))"
"""What no name goes on with: a placeholder in front of it ends in a parenthesis or a blank when it is filled in."""
_TOKEN = re.compile(
    rf"""{_BLANK}*(?:
      (?P<comment>--[^\r\n\\]*(?:\\\n?[^\r\n\\]*)* | /\*(?!\+))
    | (?P<string>'[^'\\]*(?:(?:\\.|'')[^'\\]*)*' | "[^"\\]*(?:(?:\\.|"")[^"\\]*)*" | [rR]'[^']*' | [rR]"[^"]*")
    | (?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[fFdD]|[bB][dD])?(?!\w|\$\{{)
        | \d+(?:[lLsSyY]|(?:[eE][+-]?\d+)?(?:[fFdD]|[bB][dD])?)(?!\w|\$\{{))
    | (?P<name>`[^`]*(?:``[^`]*)*` | {PLACEHOLDER}(?:(?!{_CLAUSE})\w+|{PLACEHOLDER})*)
    | (?P<word>\w+(?:{PLACEHOLDER}(?:(?!{_CLAUSE})\w+)?)*)
    | (?P<op><=>|>>>|/\*\+|<<|>>|<=|>=|<>|!=|!>|!<|==|=>|->|::|\|\||\|>|\*/|[();,.\[\]!=<>+\-*/%~&|^:?])
    | (?P<end>\Z))
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS = re.compile(f"{_BLANK}*")
_TYPOGRAPHIC = {"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "‚": "'"}


def lex(text: str) -> list[Token]:
    """The tokens of `text` without blanks and comments.

    Raises MergeSyntaxError for a string, name or comment without an end, for a character that Spark does not know,
    and for a name with letters outside ASCII that is not in backquotes.
    """
    tokens: list[Token] = []
    add, match = tokens.append, _TOKEN.match
    new: Callable[..., Token] = tuple.__new__  # twice as fast as Token(…), and a statement has hundreds
    at = 0
    dot = False
    while True:
        piece = match(text, at)
        if piece is None:
            raise _unknown(text, _after_blanks(text, at))
        kind = piece.lastgroup
        at = piece.end()
        key = ""
        if kind == "word":
            word = piece[kind]
            if "$" in word:
                kind = "name"
            elif not word.isascii():
                raise MergeSyntaxError(
                    f'the name "{word}" has a letter outside ASCII',
                    Span(piece.start(kind), at),
                    f"write it in backquotes: `{word}`",
                )
            elif dot:
                kind = "name"
            else:
                key = word.upper()
            start = at - len(word)
        elif kind == "op":
            key = piece[kind]
            start = at - len(key)
        elif kind == "end":
            return tokens
        elif kind == "comment":
            if text.startswith("/", start := piece.start(kind)):
                at = _past_comment(text, start)
            continue
        else:
            start = piece.start(piece.lastindex or 0)
        dot = key == "."
        add(new(Token, (kind, key, start, at)))


def scan(text: str) -> Iterator[Token]:
    """Give the tokens of a text that Spark need not take as a whole, such as a script.

    A character that Spark does not know is left out; a string, name or comment without an end reaches to the text's,
    as a token of the kind `endless`.
    """
    at = 0
    while at < len(text):
        piece = _TOKEN.match(text, at)
        if piece is None:
            at = _after_blanks(text, at)
            if text[at] in "'\"`":
                yield Token("endless", "", at, len(text))
                return
            at += 1
            continue
        kind = piece.lastgroup or ""
        start, at = piece.start(kind), piece.end()
        if kind == "end":
            return
        if kind == "comment":
            if text.startswith("/", start):
                if (end := comment_end(text, start)) is None:
                    yield Token("endless", "", start, len(text))
                    return
                at = end
        else:
            if kind == "word" and "$" in text[start:at]:
                kind = "name"
            key = text[start:at] if kind == "op" else text[start:at].upper() if kind == "word" else ""
            yield Token(kind, key, start, at)


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    assert blanks is not None
    return blanks.end()


def _past_comment(text: str, start: int) -> int:
    if (end := comment_end(text, start)) is not None:
        return end
    raise MergeSyntaxError("the comment has no end", Span(start, start + 2), "close it with */; comments nest in Spark")


def _unknown(text: str, at: int) -> MergeSyntaxError:
    char = text[at]
    span = Span(at, at + 1)
    if char in "'\"":
        return MergeSyntaxError("the string has no end", span, f"close it with {char}")
    if char == "`":
        return MergeSyntaxError("the quoted name has no end", span, "close it with `")
    if char in _TYPOGRAPHIC:
        return MergeSyntaxError(f"{char} is a typographic quote", span, f"write {_TYPOGRAPHIC[char]}")
    if char == "@":
        return MergeSyntaxError(
            "Spark SQL has no @",
            span,
            "a version of a table is `(select * from t version as of 1)`, a parameter `:name`",
            kind="unsupported",
        )
    if char in "{}":
        return MergeSyntaxError(f"Spark SQL has no {char}", span, "is this Jinja that was not rendered?")
    subject = char if char.isprintable() else f"the character U+{ord(char):04X}"
    return MergeSyntaxError(f"Spark SQL has no {subject}", span)
