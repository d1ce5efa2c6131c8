"""The string literals of Python: the characters of their values, each with its place in the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.text import SourceText

_OPENING = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_BETWEEN = re.compile(r"(?:\s|\\\n|#[^\n]*|[()])+")
_ESCAPE = re.compile(r"\\(?:\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[\\'\"abfnrtv])")
_PLAIN = re.compile(r"[^\\{}'\"]+")
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class PythonFile:
    """A file or cell whose syntax tree is read; `number` is its place among those that are read together."""

    source: SourceText
    number: int

    @cached_property
    def _lines(self) -> list[str]:
        return self.source.text.split("\n")

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column in bytes of UTF-8, as `ast` has them."""
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return self.source.offset(line, column + 1)

    def origin(self, node: ast.expr | ast.stmt) -> Origin:
        """Return the range of a node."""
        start = self.offset(node.lineno, node.col_offset)
        if node.end_lineno is None or node.end_col_offset is None:
            return Origin(self.number, start, start)
        return Origin(self.number, start, self.offset(node.end_lineno, node.end_col_offset))

    def written(self, node: ast.expr) -> str:
        """Return an expression as the author wrote it."""
        at = self.origin(node)
        return self.source.text[at.start : at.end]


def constant_text(file: PythonFile, node: ast.expr, value: str) -> PiecedText:
    """Return the string that a literal, or several one after the other, is."""
    at = file.origin(node)
    pieces = list(_pieces(file.source.text, at, fields=False))
    text = PiecedText.join(piece for piece in pieces if isinstance(piece, PiecedText))
    # What is read otherwise than Python does must not be given wrong places.
    return text if text.text == value else PiecedText.from_origin(value, at)


def formatted_pieces(file: PythonFile, node: ast.JoinedStr) -> list[PiecedText | tuple[Origin, ast.FormattedValue]]:
    """Return the text of an f-string and its replacement fields, each with the range of its braces, in their order."""
    values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
    pieces = list(_pieces(file.source.text, file.origin(node), fields=True))
    if sum(isinstance(piece, Origin) for piece in pieces) != len(values):
        return [PiecedText.filled("{…}", file.origin(node))]
    fields = iter(values)
    return [piece if isinstance(piece, PiecedText) else (piece, next(fields)) for piece in pieces]


def _pieces(text: str, node: Origin, *, fields: bool) -> Iterator[PiecedText | Origin]:
    """The text and the replacement fields of the literals in a range."""
    at = node.start
    while at < node.end:
        opening = _OPENING.match(text, at)
        if opening is None:
            between = _BETWEEN.match(text, at)
            if between is None:
                return
            at = between.end()
            continue
        prefix = opening[1].lower()
        body = _Body(text, node, opening.end(), opening[2], raw="r" in prefix, fields=fields and "f" in prefix)
        yield from body.read()
        at = body.at + len(opening[2])


class _Body:
    """Reads one literal from after its opening quote; `at` is then its closing quote."""

    def __init__(self, text: str, node: Origin, at: int, quote: str, *, raw: bool, fields: bool) -> None:
        self.text = text
        self.node = node
        self.at = at
        self.quote = quote
        self.raw = raw
        self.fields = fields

    def read(self) -> Iterator[PiecedText | Origin]:
        text, number = self.text, self.node.source
        while self.at < self.node.end and not text.startswith(self.quote, self.at):
            at, char = self.at, text[self.at]
            plain = _PLAIN.match(text, at)
            if plain is not None:
                self.at = plain.end()
                yield PiecedText.written(plain[0], number, at)
            elif char == "\\" and self.raw:
                self.at += 2 if not (self.fields and text[at + 1 : at + 2] in "{}") else 1
                yield PiecedText.written(text[at : self.at], number, at)
            elif char == "\\":
                escape = _ESCAPE.match(text, at)
                if escape is None:  # `\\d` in a string that is not raw is two characters
                    self.at += 1
                    yield PiecedText.written(char, number, at)
                    continue
                self.at = escape.end()
                yield PiecedText.from_origin(_unescape(escape[0]), Origin(number, at, self.at))
            elif self.fields and char in "{}" and text.startswith(char * 2, at):
                self.at += 2
                yield PiecedText.from_origin(char, Origin(number, at, self.at))
            elif self.fields and char == "{":
                self.at = self._field_end(at)
                yield Origin(number, at, self.at)
            else:
                self.at += 1
                yield PiecedText.written(char, number, at)

    def _field_end(self, start: int) -> int:
        """The offset after the brace that closes the replacement field at `start`."""
        text, at, depth = self.text, start, 0
        while at < self.node.end:
            char = text[at]
            if char in "'\"" and not text.startswith(self.quote, at):
                quote = text[at : at + 3] if text[at : at + 3] == char * 3 else char
                end = text.find(quote, at + len(quote))
                at = (end if end >= 0 else at) + len(quote)
                continue
            depth += (char in _OPEN) - (char in _CLOSE)
            at += 1
            if depth == 0:
                return at
        return self.node.end


def _unescape(escape: str) -> str:
    if escape == "\\\n":
        return ""
    try:
        return str(ast.literal_eval(f'"{escape}"')) if escape != '\\"' else '"'
    except (SyntaxError, ValueError):
        return escape
