"""MERGEs in Scala code: string literals that are given to `….sql(…)`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from merge_runner.lint.containers.found import Contents, FoundStatement, UnreadMerge
from merge_runner.lint.containers.placeholders import with_placeholders
from merge_runner.lint.containers.traced import Origin, Traced
from merge_runner.merge.find import find_merge
from merge_runner.text import SourceText

_WORDS = re.compile(r"merge|(?:create|alter)\b[^'\"]{0,40}\btable", re.IGNORECASE)
_TABLE = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:CREATE|REPLACE|ALTER)\s[^(]*\bTABLE\b", re.IGNORECASE)
_WHOLE = re.compile(r"\bUSING\b.*\bWHEN\b", re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(
    r"""
      (?P<blank>\s+ | //[^\n]* | /\*.*?\*/)
    | (?P<string>(?P<prefix>[A-Za-z]*)(?:(?P<three>\"\"\")(?P<raw>.*?)\"\"\"(?!\")
        | \"(?P<one>[^\"\\\n]*(?:\\.[^\"\\\n]*)*)\"))
    | (?P<char>'(?:\\.|[^'\\])')
    | (?P<word>[A-Za-z_][\w$]*)
    | (?P<op>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u+[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int
    body: int = 0
    """Where the inside of a string begins."""


@dataclass
class _Reader:
    source: SourceText
    tokens: list[_Token]
    values: dict[str, list[int]] = field(default_factory=dict)
    """By the name of a `val`, the tokens at which its values begin."""
    used: set[int] = field(default_factory=set)
    following: set[str] = field(default_factory=set)

    def expression(self, i: int) -> tuple[Traced | None, int]:
        """The text of literals and names that `+` joins, from token i, and the token after it; None: not known."""
        found, i = self._operand(i)
        while i < len(self.tokens) and self.tokens[i].text == "+":
            start = i + 1
            more, i = self._operand(start)
            if more is None and found is not None:
                more = self._hole(start, i)
            found = more if found is None else found + more if more is not None else found
        return found, i

    def _operand(self, i: int) -> tuple[Traced | None, int]:
        found: Traced | None = None
        token = self.tokens[i] if i < len(self.tokens) else _Token("op", "", 0, 0)
        if token.kind == "string":
            self.used.add(i)
            found, i = self._literal(token), i + 1
        elif token.kind == "word":
            i += 1
            if not (i < len(self.tokens) and self.tokens[i].text in (".", "(")) or self._method(i):
                found = self._value(token)
        elif token.text == "(":
            found, inner = self.expression(i + 1)
            i = self._closing(i)
            found = found if inner == i else None
            i += 1
        else:
            return None, i
        while i < len(self.tokens) and self.tokens[i].text in (".", "("):
            if self.tokens[i].text == "(":
                found, i = None, self._closing(i) + 1
                continue
            name = self.tokens[i + 1].text if i + 1 < len(self.tokens) else ""
            i += 2
            if name == "stripMargin" and found is not None:
                found = found.dedent("|")
            elif name == "trim" and found is not None:
                found = found.strip()
            else:
                found = None
        return found, i

    def _method(self, i: int) -> bool:
        return (
            self.tokens[i].text == "."
            and i + 1 < len(self.tokens)
            and self.tokens[i + 1].text
            in (
                "stripMargin",
                "trim",
            )
        )

    def _value(self, token: _Token) -> Traced | None:
        starts = self.values.get(token.text, [])
        if len(starts) != 1 or token.text in self.following:
            return None
        self.following.add(token.text)
        try:
            return self.expression(starts[0])[0]
        finally:
            self.following.discard(token.text)

    def _hole(self, start: int, stop: int) -> Traced:
        at = Origin(0, self.tokens[start].start, self.tokens[max(stop - 1, start)].end)
        return Traced.filled("{" + self.source.text[at.start : at.end] + "}", at)

    def _closing(self, i: int) -> int:
        depth = 0
        for at in range(i, len(self.tokens)):
            if self.tokens[at].kind == "op":
                depth += (self.tokens[at].text in _OPEN) - (self.tokens[at].text in _CLOSE)
                if depth == 0:
                    return at
        return len(self.tokens) - 1

    def _literal(self, token: _Token) -> Traced:
        prefix = token.text[: token.text.index('"')]
        three = token.text[len(prefix) :].startswith('"""')
        end = token.end - (3 if three else 1)
        if not prefix and three:
            return Traced.written(self.source.text[token.body : end], 0, token.body)
        return Traced.joined(
            self._characters(token.body, end, escapes=not three and prefix != "raw", fields=bool(prefix))
        )

    def _characters(self, at: int, end: int, *, escapes: bool, fields: bool) -> list[Traced]:
        text, found = self.source.text, []
        while at < end:
            start, char = at, text[at]
            if escapes and char == "\\" and (escape := _ESCAPE.match(text, at)) is not None:
                at = escape.end()
                found.append(Traced.made(_unescaped(escape[0]), Origin(0, start, at)))
            elif fields and text.startswith("$$", at):
                at += 2
                found.append(Traced.made("$", Origin(0, start, at)))
            elif fields and char == "$":
                at = self._field_end(at + 1, end)
                found.append(self._field(start, at))
            else:
                at += 1
                found.append(Traced.written(char, 0, start))
        return found

    def _field_end(self, at: int, end: int) -> int:
        text = self.source.text
        if text[at] != "{":
            word = re.compile(r"[A-Za-z_]\w*").match(text, at, end)
            return word.end() if word is not None else at
        depth = 0
        for i in range(at, end):
            depth += (text[i] == "{") - (text[i] == "}")
            if depth == 0:
                return i + 1
        return end

    def _field(self, start: int, end: int) -> Traced:
        written = self.source.text[start:end]
        name = written[1:].strip("{}").strip()
        value = self._value(_Token("word", name, start, end))
        at = Origin(0, start, end)
        return (
            value.at(at) if value is not None else Traced.filled(written if "{" not in written else f"{{{name}}}", at)
        )


def read_scala(source: SourceText) -> Contents:
    """Return the statements of a Scala file: strings, and vals of strings, that are given to `….sql(…)`."""
    if not _WORDS.search(source.text) or '"' not in source.text:
        return Contents()
    reader = _Reader(source, _tokens(source.text))
    tokens = reader.tokens
    for i, token in enumerate(tokens):
        if token.text in ("val", "var", "def") and token.kind == "word" and i + 1 < len(tokens):
            start = _assigned(tokens, i + 2)
            # What a `var` or `def` gives is not followed: two values are as good as none.
            given = [] if start is None else [start] if token.text == "val" else [start, start]
            reader.values.setdefault(tokens[i + 1].text, []).extend(given)
    found = []
    seen: set[Origin] = set()
    for i, token in enumerate(tokens):
        if token.text != "sql" or i + 1 >= len(tokens) or (i and tokens[i - 1].text != "."):
            continue
        if tokens[i + 1].text != "(" and tokens[i + 1].kind != "string":
            continue
        before = set(reader.used)
        text, _ = reader.expression(i + 2 if tokens[i + 1].text == "(" else i + 1)
        merge = find_merge(text.text) if text is not None else None
        if text is None or (merge is None and _TABLE.match(text.text) is None):
            reader.used = before
            continue
        origin = text.origins[merge.start if merge is not None else 0]
        if origin not in seen:
            seen.add(origin)
            found.append(FoundStatement("scala", with_placeholders(text).rendered([source])))
    found.sort(key=lambda each: each.rendered.map.span(0).start)
    return Contents(tuple(found), tuple(_unread(reader)))


def _unread(reader: _Reader) -> list[UnreadMerge]:
    found = []
    for i, token in enumerate(reader.tokens):
        if token.kind != "string" or i in reader.used or _WHOLE.search(token.text) is None:
            continue
        if find_merge(token.text.strip('"')) is not None:
            place = reader.source.place(token.start, token.end)
            found.append(UnreadMerge("scala", place, "lint finds no `.sql(…)` in this file that is given this text"))
    return found


def _tokens(text: str) -> list[_Token]:
    found = []
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if token["blank"] is not None:
            continue
        if token["string"] is not None:
            body = token.start("raw") if token["three"] is not None else token.start("one")
            found.append(_Token("string", token[0], token.start(), token.end(), body))
        else:
            found.append(_Token(kind, token[0], token.start(), token.end()))
    return found


def _assigned(tokens: list[_Token], i: int) -> int | None:
    """The token after the `=` of a definition, which may have a type."""
    for at in range(i, min(i + 12, len(tokens))):
        if tokens[at].text == "=":
            return at + 1
        if tokens[at].text in ("val", "var", "def", "{", "}"):
            return None
    return None


def _unescaped(escape: str) -> str:
    if escape[1] == "u":
        return chr(int(escape.lstrip("\\u"), 16))
    return _ESCAPES.get(escape[1], escape[1])
