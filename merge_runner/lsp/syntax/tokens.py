"""Cuts SQL with Jinja, as an author writes it, into tokens; a text that ends in the middle of a tag has tokens, too.

The lexers of the parser and of Jinja refuse what is half written, and Jinja's keeps no offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from merge_runner.template.packages import INSTALLED
from merge_runner.text import Span

Kind = Literal["word", "name", "string", "number", "op", "comment"]
"""`name` is in backquotes. Words, strings and operators are those of SQL or, inside a tag, of Jinja."""


class Token(NamedTuple):
    """A token at `start` to `end` (exclusive). `tag` is the number of the tag that it is in; -1: it is SQL."""

    kind: Kind
    text: str
    start: int
    end: int
    tag: int = -1

    @property
    def span(self) -> Span:
        """Its range in the text."""
        return Span(self.start, self.end)

    @property
    def value(self) -> str:
        """A string without its quotes, a name without its backquotes, else the text."""
        if self.kind == "name":
            return self.text[1 : -1 if len(self.text) > 1 and self.text.endswith("`") else None].replace("``", "`")
        if self.kind == "string":
            closed = len(self.text) > 1 and self.text[-1] == self.text[0]
            return self.text[1:-1] if closed else self.text[1:]
        return self.text

    @property
    def value_span(self) -> Span:
        """The range of `value`."""
        if self.kind in ("string", "name"):
            return Span(self.start + 1, self.start + 1 + len(self.value))
        return self.span

    @property
    def is_name(self) -> bool:
        """Whether it may be the name of something."""
        return self.kind == "name" or (self.kind == "word" and not self.text[0].isdigit())


@dataclass(frozen=True)
class Tag:
    """A tag with its braces: `opening` is `{{`, `{%` or `{#`. `closed` False: its end is where SQL seems to go on."""

    opening: str
    span: Span
    closed: bool = True


@dataclass(frozen=True)
class Scanned:
    """The tokens of a text in their order, those of tags in SQL strings and comments after the string or comment."""

    text: str
    tokens: tuple[Token, ...]
    tags: tuple[Tag, ...]

    @cached_property
    def _by_tag(self) -> dict[int, list[Token]]:
        by_tag: dict[int, list[Token]] = {}
        for token in self.tokens:
            by_tag.setdefault(token.tag, []).append(token)
        return by_tag

    def of_tag(self, number: int) -> Sequence[Token]:
        """Return the tokens of a tag."""
        return self._by_tag.get(number, ())

    def tag_at(self, offset: int) -> int | None:
        """Return the number of the tag that a cursor at `offset` is in, between its braces."""
        for number, tag in enumerate(self.tags):
            end = tag.span.end - 2 if tag.closed else tag.span.end
            if tag.span.start + 2 <= offset <= end:
                return number
        return None

    def token_at(self, offset: int) -> Token | None:
        """Return the token that a cursor at `offset` touches: a name or string before one of another kind."""
        tokens_here = [token for token in self.tokens if token.start <= offset <= token.end]
        inner = [token for token in tokens_here if token.tag >= 0] if self.tag_at(offset) is not None else tokens_here
        last = inner[::-1]
        name_token = next((token for token in last if token.kind in ("word", "name", "string")), None)
        return name_token or next((token for token in last if token.kind != "op" or token.start < offset), None)


_INSIDE = r"\\.|(?!\}\}|%\}|\{\{)"
_JINJA_STRING = rf"""'(?:{_INSIDE}[^'\\\n])*'|"(?:{_INSIDE}[^"\\\n])*"|['"](?:\\.|[^\s'"(){{}}\\])*"""
"""The last form has no end yet: it goes up to a blank. A quote after a backslash begins none."""
_EXPRESSION = r"\{\{(?:(?!\{\{)[^\n])*?\}\}"
_SQL_STRING = rf"""'(?:{_EXPRESSION}|\\.|''|[^'\\\n])*'?|"(?:{_EXPRESSION}|\\.|""|[^"\\\n])*"?"""
_SQL = re.compile(
    rf"""
      (?P<hidden>\{{\#.*?(?:\#\}}|\Z) | \{{%[-+]?\s*raw\s*-?%\}}.*?(?:\{{%[-+]?\s*endraw\s*[-+]?%\}}|\Z))
    | (?P<tag>\{{\{{|\{{%)
    | (?P<comment>--[^\n]* | /\*(?!\+).*?(?:\*/|\Z))
    | (?P<string>{_SQL_STRING})
    | (?P<name>`(?:``|[^`\n])*`?)
    | (?P<number>\d+(?:\.\d+)?\w*)
    | (?P<word>\w+)
    | (?P<op><=>|<=|>=|<>|!=|::|\|\||[^\w\s])
    """,
    re.X | re.S,
)
_JINJA = re.compile(
    rf"""
      (?P<opening>\{{[{{%\#])
    | (?P<closing>[-+]?%\}}|-?\}}\}})
    | (?P<string>{_JINJA_STRING})
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<word>\w+)
    | (?P<op>==|!=|<=|>=|//|\*\*|\\.|[^\w\s])
    """,
    re.X | re.S,
)
_INNER_TAG = re.compile(r"\{[{%]")
_CLAUSES = "merge|using|on|when|select|from|inner|left|right|full|cross|join|where|and|group|order|with|union"
_SQL_GOES_ON = re.compile(rf"\n(?=[ \t)]*(?:{_CLAUSES})\b)", re.IGNORECASE)


@lru_cache(maxsize=64)
def scanned(text: str) -> Scanned:
    """Return the tokens and tags of a text; kept for the texts of the last requests."""
    scan = _Scan(text)
    scan.sql(0, len(text))
    return Scanned(text, tuple(scan.tokens), tuple(scan.tags))


class _Scan:
    def __init__(self, text: str) -> None:
        self._text = text
        self.tokens: list[Token] = []
        self.tags: list[Tag] = []

    def sql(self, at: int, end: int) -> None:
        while (match := _SQL.search(self._text, at, end)) is not None:
            at = match.end()
            kind = match.lastgroup
            if kind == "hidden":
                self.tags.append(Tag("{#", Span(*match.span())))
            elif kind == "tag":
                at = self._tag(match.start(), match.group())
            else:
                self.tokens.append(Token(kind, match.group(), *match.span()))  # type: ignore[arg-type]
                if kind in ("string", "comment"):
                    self._inner_tags(*match.span())

    def _inner_tags(self, start: int, end: int) -> None:
        at = start
        while (opening := _INNER_TAG.search(self._text, at, end)) is not None:
            at = self._tag(opening.start(), opening.group())

    def _tag(self, start: int, opening: str) -> int:
        """Read the tag at `start`, and return the offset after it."""
        number = len(self.tags)
        self.tags.append(Tag(opening, Span(start, start + 2)))
        closing = "}}" if opening == "{{" else "%}"
        tokens: list[Token] = []
        at, depth = start + 2, 0
        read_until = at
        for match in _JINJA.finditer(self._text, at):
            kind, word = match.lastgroup, match.group()
            if kind == "opening":
                # In a mapping it is one of mappings, unless SQL goes on before it: nothing is read again and again.
                if word == "{{" and depth and _SQL_GOES_ON.search(self._text, read_until, match.start()) is None:
                    depth += 2
                    read_until = match.start()
                    continue
                at = match.start()
                break
            if kind == "closing":
                if word.endswith(closing) and not (depth and word == "}}"):
                    self.tags[number] = Tag(opening, Span(start, match.end()))
                    self.tokens += tokens
                    return match.end()
                if word == "}}":  # of two mappings
                    depth -= 2
                    tokens += [
                        Token("op", "}", brace, brace + 1, number) for brace in (match.end() - 2, match.end() - 1)
                    ]
                continue
            depth += (word == "{") - (word == "}")
            tokens.append(Token(kind, word, *match.span(), number))  # type: ignore[arg-type]
        else:
            at = len(self._text)
        sql_begin = _SQL_GOES_ON.search(self._text, start, at)
        end = sql_begin.start() if sql_begin is not None else at
        self.tags[number] = Tag(opening, Span(start, end), closed=False)
        self.tokens += [token for token in tokens if token.end <= end]
        return end


@dataclass(frozen=True)
class Argument:
    """One argument of a call: its keyword, None where it has none, and its tokens."""

    keyword: Token | None
    tokens: tuple[Token, ...]

    @property
    def text(self) -> Token | None:
        """The string, where the argument is a string alone."""
        return self.tokens[0] if len(self.tokens) == 1 and self.tokens[0].kind == "string" else None


@dataclass(frozen=True)
class Call:
    """A call in a tag: `{{ name(…) }}`, with a dotted name of a macro of a package.

    `end` is the offset after its parenthesis, or the end of the tag.
    """

    name: Token
    arguments: tuple[Argument, ...]
    opening: int
    end: int
    closed: bool
    commas: tuple[int, ...] = ()

    def argument_at(self, offset: int) -> int:
        """Return the number of the argument that a cursor at `offset` is in."""
        return sum(1 for comma in self.commas if comma < offset)


def calls(tokens: Sequence[Token]) -> Iterator[Call]:
    """Yield the calls among the tokens of one tag, outer ones first."""
    for index, token in enumerate(tokens[:-1]):
        follows = tokens[index + 1]
        if token.kind != "word" or follows.text != "(":
            continue
        if not index or tokens[index - 1].text != ".":
            yield _call(tokens, index, token)
        elif index > 1 and tokens[index - 2].text in INSTALLED:
            package = tokens[index - 2]
            name = f"{package.text}.{token.text}"
            yield _call(tokens, index, Token("word", name, package.start, token.end, token.tag))


def _call(tokens: Sequence[Token], index: int, name: Token) -> Call:
    arguments: list[list[Token]] = [[]]
    commas: list[int] = []
    depth = 0
    end, closed = tokens[-1].end, False
    for token in tokens[index + 1 :]:
        if token.kind == "op" and token.text in "([{":
            depth += 1
            if depth == 1:
                continue
        elif token.kind == "op" and token.text in ")]}":
            depth -= 1
            if depth == 0:
                end, closed = token.end, True
                break
        elif depth == 1 and token.text == "," and token.kind == "op":
            commas.append(token.start)
            arguments.append([])
            continue
        arguments[-1].append(token)
    return Call(name, tuple(map(_argument, arguments)), tokens[index + 1].end, end, closed, commas=tuple(commas))


def _argument(tokens: list[Token]) -> Argument:
    if len(tokens) > 1 and tokens[0].kind == "word" and tokens[1].text == "=":
        return Argument(tokens[0], tuple(tokens[2:]))
    return Argument(None, tuple(tokens))


def call_at(scan: Scanned, offset: int) -> Call | None:
    """Return the innermost call whose parentheses hold a cursor at `offset`."""
    number = scan.tag_at(offset)
    if number is None:
        return None
    tag = scan.tags[number]
    last = None
    for call in calls(scan.of_tag(number)):
        inside = call.opening <= offset < call.end if call.closed else call.opening <= offset <= tag.span.end
        if inside:
            last = call
    return last
