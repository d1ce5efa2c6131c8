"""MERGEs in Scala code: string literals that are given to `….sql(…)`.

What is interpolated is a placeholder. A text that `val`s or `+` put together is not followed, nor are the builders of
Delta and Spark: their places are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from merge_runner.lint.containers.contents import NOT_PUT_TOGETHER, Contents, EmbeddedStatement, UnreadMerge, has_words
from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.lint.containers.placeholders import with_placeholders
from merge_runner.lint.containers.script import unread_in
from merge_runner.lint.containers.unread_text import merge_in_parts
from merge_runner.merge.find import find_merge
from merge_runner.text import SourceText

_TOKEN = re.compile(
    r"""
      (?P<blank>\s+ | //[^\n]* | /\*.*?(?:\*/|\Z))
    | (?P<string>(?P<prefix>[A-Za-z]*)(?:(?P<three>\"\"\")(?P<raw>.*?)\"\"\"(?!\")
        | \"(?P<one>[^\"\\\n]*(?:\\.[^\"\\\n]*)*)(?:\"|(?=\n)|\\?\Z)))
    | (?P<char>'(?:\\.|[^'\\])')
    | (?P<word>[A-Za-z_][\w$]*)
    | (?P<op>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = r"\\(?:u+[0-9a-fA-F]{4}|.)"
_PIECES = {
    "": re.compile(rf"(?P<escape>{_ESCAPE})", re.DOTALL),
    "raw": re.compile(r"(?P<dollar>\$\$)|(?P<field>\$(?:\{|[A-Za-z_]\w*))"),
    "s": re.compile(rf"(?P<escape>{_ESCAPE})|(?P<dollar>\$\$)|(?P<field>\$(?:\{{|[A-Za-z_]\w*))", re.DOTALL),
}
"""What is not as it is written, by the prefix of a literal; `s` stands for those that are not here."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = re.compile(r"merge|when(?:not)?matched|(?:create|alter)\b[^'\"]{0,40}\btable", re.IGNORECASE)
_TABLE = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:CREATE|REPLACE|ALTER)\s[^(]*\bTABLE\b", re.IGNORECASE)
_NOT_GIVEN = "lint finds no `.sql(…)` in this file that is given this text"
_BUILDER = "lint reads no builders in Scala: give `.sql(…)` the MERGE as a string literal"


@dataclass(frozen=True)
class Token:
    """A word, string, character or operator of one character; `kind` says which."""

    kind: str
    text: str
    start: int
    end: int
    body: int = 0
    """Where the inside of a string begins."""


def scala_tokens(text: str) -> list[Token]:
    """Return the tokens of Scala code, without blanks and comments."""
    tokens = []
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if token["string"] is not None:
            body = token.start("raw") if token["three"] is not None else token.start("one")
            tokens.append(Token("string", token[0], token.start(), token.end(), body))
        elif token["blank"] is None:
            tokens.append(Token(kind, token[0], token.start(), token.end()))
    return tokens


def read_scala(source: SourceText) -> Contents:
    """Return the statements of a Scala file: the literals that are given to `….sql(…)`."""
    if not _WORDS.search(source.text):
        return Contents()
    tokens = scala_tokens(source.text)
    arguments = dict(_sql_arguments(source, tokens))
    unread = [
        UnreadMerge("scala", source.place(*_span(tokens[i])), _NOT_GIVEN) for i in _find_other_merges(tokens, arguments)
    ]
    unread += [UnreadMerge("builder", source.place(*_span(tokens[i])), _BUILDER) for i in _builders(tokens)]
    unread += [argument for argument in arguments.values() if isinstance(argument, UnreadMerge)]
    contents = Contents(
        tuple(argument for argument in arguments.values() if isinstance(argument, EmbeddedStatement)), tuple(unread)
    )
    if contents.merges or contents.unread:
        return contents
    strings = [token for i, token in enumerate(tokens) if token.kind == "string" and i not in arguments]
    first = merge_in_parts([token.text for token in strings])
    parts = () if first is None else (UnreadMerge("scala", source.place(*_span(strings[first])), NOT_PUT_TOGETHER),)
    return Contents(contents.statements, parts)


def _sql_arguments(
    source: SourceText, tokens: Sequence[Token]
) -> Iterator[tuple[int, EmbeddedStatement | UnreadMerge]]:
    """Yield the literals that `….sql(…)` is given and that are a MERGE or describe a table, by their token."""
    texts = [token.text for token in tokens]
    for i, token in enumerate(tokens):
        if token.kind != "string" or texts[max(i - 3, 0) : i] != [".", "sql", "("]:
            continue
        text, stop = _literal(source, token), i + 1
        while texts[stop : stop + 2] in ([".", "stripMargin"], [".", "trim"]):
            text = text.dedent("|") if texts[stop + 1] == "stripMargin" else text.strip()
            stop += 4 if texts[stop + 2 : stop + 4] == ["(", ")"] else 2
        merge = find_merge(text.text)
        is_whole = texts[stop : stop + 1] in ([")"], [","])
        reason = NOT_PUT_TOGETHER if not is_whole else unread_in(text.text)
        if merge is not None and reason is not None:
            origin = text.origin(merge.start)
            yield i, UnreadMerge("scala", source.place(origin.start, origin.end), reason)
        elif is_whole and (merge is not None or _TABLE.match(text.text) is not None):
            yield i, EmbeddedStatement("scala", with_placeholders(text).render([source]))


def _find_other_merges(tokens: Sequence[Token], arguments: dict[int, EmbeddedStatement | UnreadMerge]) -> Iterator[int]:
    """Yield the other literals that are a MERGE."""
    for i, token in enumerate(tokens):
        if token.kind != "string" or i in arguments or not has_words(token.text, "USING", "WHEN"):
            continue
        if find_merge(token.text[token.body - token.start :].rstrip('"')) is not None:
            yield i


def _builders(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the names `merge` and `mergeInto` of the calls that `.whenMatched`, or another clause, comes after."""
    merge: int | None = None
    for i in range(1, len(tokens)):
        if tokens[i].kind != "word" or tokens[i - 1].text != ".":
            continue
        if tokens[i].text in ("merge", "mergeInto"):
            merge = i
        elif tokens[i].text.startswith(("whenMatched", "whenNotMatched")) and merge is not None:
            yield merge
            merge = None


def _literal(source: SourceText, token: Token) -> PiecedText:
    """Return the value of a literal, with a placeholder for what is interpolated."""
    prefix, _, _ = token.text.partition('"')
    is_long = token.text.startswith('"""', len(prefix))
    end = token.end - (3 if is_long else 1)
    if is_long and not prefix:
        return PiecedText.written(source.text[token.body : end], 0, token.body)
    parts, at = [], token.body
    pieces = _PIECES.get(prefix, _PIECES["s"])
    while (piece := pieces.search(source.text, at, end)) is not None:
        parts.append(PiecedText.written(source.text[at : piece.start()], 0, at))
        at = piece.end()
        if piece.lastgroup == "field":
            at = _field_end(source.text, at, end) if piece[0] == "${" else at
            field = source.text[piece.start() : at]
            spelling = f"{{{field[2:-1].strip()}}}" if piece[0] == "${" else field
            parts.append(PiecedText.filled(spelling, Origin(0, piece.start(), at)))
        else:
            value = "$" if piece.lastgroup == "dollar" else _unescape(piece[0])
            parts.append(PiecedText.from_origin(value, Origin(0, piece.start(), at)))
    return PiecedText.join([*parts, PiecedText.written(source.text[at:end], 0, at)])


def _field_end(text: str, at: int, end: int) -> int:
    """Return the offset after the brace that closes the one before `at`."""
    depth = 1
    for i in range(at, end):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i + 1
    return end


def _unescape(escape: str) -> str:
    if escape[1] == "u":
        return chr(int(escape.lstrip("\\u"), 16)) if len(escape) > 2 else "u"
    return _ESCAPES.get(escape[1], escape[1])


def _span(token: Token) -> tuple[int, int]:
    return token.start, token.end
