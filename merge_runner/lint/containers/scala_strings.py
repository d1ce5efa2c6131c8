"""What the strings of Scala code are, as far as the code alone says: its tokens, literals, and vals that hold them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from merge_runner.lint.containers.budget import Budget
from merge_runner.lint.containers.traced import Origin, Traced
from merge_runner.text import Place, SourceText

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
_ESCAPE = re.compile(r"\\(?:u+[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ENDS = frozenset({"", ";", ",", ")", "}", "]"})
"""What may follow an expression on its line."""
_MOST_VALS = 50
"""How many vals are followed for one text."""
_DEFINE = ("val", "var", "def")
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Token:
    """A word, string, character or operator of one character; `kind` says which."""

    kind: str
    text: str
    start: int
    end: int
    body: int = 0
    """Where the inside of a string begins."""


@dataclass
class ScalaStrings:
    """Reads the texts of a Scala file. `values` has, by the name of a `val`, the tokens at which its values begin."""

    source: SourceText
    tokens: Sequence[Token]
    values: Mapping[str, Sequence[int]]
    used: set[int] = field(default_factory=set)
    """The tokens of the strings that were read."""
    following: set[str] = field(default_factory=set)
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def of(cls, source: SourceText) -> ScalaStrings:
        """Return the reader of a file."""
        tokens = _tokens(source.text)
        budget = Budget()
        return cls(source, tokens, _values(tokens, budget), budget=budget)

    def text(self, i: int) -> str:
        """Return the text of a token; an empty one past the last."""
        return self.tokens[i].text if i < len(self.tokens) else ""

    def value(self, name: str) -> int | None:
        """Return the token at which the value of a `val` begins, where there is one of the name, and nothing else."""
        starts = self.values.get(name, ())
        return starts[0] if len(starts) == 1 and starts[0] >= 0 else None

    def place(self, i: int) -> Place:
        """Return the place of a token."""
        return self.source.place(self.tokens[i].start, self.tokens[i].end)

    def origin(self, start: int, stop: int) -> Origin:
        """Return the range of the tokens from `start` to the exclusive `stop`."""
        return Origin(0, self.tokens[start].start, self.tokens[max(stop - 1, start)].end)

    def hole(self, start: int, stop: int) -> Traced:
        """Return the placeholder of the code from a token to the exclusive `stop`."""
        at = self.origin(start, stop)
        return Traced.filled("{" + self.source.text[at.start : at.end] + "}", at)

    def expression(self, i: int) -> tuple[Traced | None, int]:
        """The text of literals and names that `+` joins, from token i, and the token after it; None: not known."""
        parts: list[tuple[Traced | None, int, int]] = []
        stop = i - 1
        while not parts or self.text(stop) == "+":
            start = stop + 1
            part, stop = self._operand(start)
            parts.append((part, start, stop))
        if all(part is None for part, _, _ in parts):
            return None, stop
        joined = Traced.joined(self.hole(start, end) if part is None else part for part, start, end in parts)
        self.budget.characters(len(joined.text))
        return joined, stop

    def _operand(self, i: int) -> tuple[Traced | None, int]:
        self.budget.step()
        found: Traced | None = None
        token = self.tokens[i] if i < len(self.tokens) else Token("op", "", 0, 0)
        if token.kind == "string":
            self.used.add(i)
            found, i = self._literal(token), i + 1
        elif token.kind == "word":
            i += 1
            if not (i < len(self.tokens) and self.tokens[i].text in (".", "(")) or self._method(i):
                found = self._value(token)
        elif token.text == "(":
            found, inner = self.expression(i + 1)
            i = self.closing(i)
            found = found if inner == i else None
            i += 1
        else:
            return None, i
        while i < len(self.tokens) and self.tokens[i].text in (".", "("):
            if self.tokens[i].text == "(":
                found, i = None, self.closing(i) + 1
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

    def _value(self, token: Token) -> Traced | None:
        start = self.value(token.text)
        if start is None or token.text in self.following or len(self.following) >= _MOST_VALS:
            return None
        self.following.add(token.text)
        try:
            found, stop = self.expression(start)
            return found if self.ends(stop) else None
        finally:
            self.following.discard(token.text)

    def ends(self, stop: int) -> bool:
        """Return whether an expression ends before a token: at the end of its line, or of what is around it."""
        return self.text(stop) in _ENDS or self._is_first(stop)

    def is_applied(self, i: int) -> bool:
        """Return whether a parenthesis or bracket has the arguments of what is in front of it."""
        before = self.tokens[i - 1] if i else None
        called = before is not None and (before.kind == "word" or before.text in (")", "]"))
        return called and self.text(i) in ("(", "[") and not self._is_first(i)

    def _is_first(self, i: int) -> bool:
        """Whether a token is the first of its line."""
        return "\n" in self.source.text[self.tokens[i - 1].end : self.tokens[i].start]

    def closing(self, i: int) -> int:
        """Return the token that closes the parenthesis, bracket or brace at a token; without one the last."""
        return self._closings.get(i, len(self.tokens) - 1)

    def opening(self, i: int) -> int:
        """Return the token that opens what a token closes; without one the first."""
        return self._openings.get(i, 0)

    @cached_property
    def _closings(self) -> dict[int, int]:
        found: dict[int, int] = {}
        opened: list[int] = []
        for i, token in enumerate(self.tokens):
            if token.kind == "op" and token.text in _OPEN:
                opened.append(i)
            elif token.kind == "op" and token.text in _CLOSE and opened:
                found[opened.pop()] = i
        return found

    @cached_property
    def _openings(self) -> dict[int, int]:
        return {closing: opening for opening, closing in self._closings.items()}

    def _literal(self, token: Token) -> Traced:
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
        self.budget.step()
        value = self._value(Token("word", name, start, end))
        at = Origin(0, start, end)
        return (
            value.at(at) if value is not None else Traced.filled(written if "{" not in written else f"{{{name}}}", at)
        )


def _tokens(text: str) -> list[Token]:
    found = []
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if token["blank"] is not None:
            continue
        if token["string"] is not None:
            body = token.start("raw") if token["three"] is not None else token.start("one")
            found.append(Token("string", token[0], token.start(), token.end(), body))
        else:
            found.append(Token(kind, token[0], token.start(), token.end()))
    return found


def _values(tokens: Sequence[Token], budget: Budget) -> dict[str, list[int]]:
    """Where the values of names begin; -1 for what is not followed: a `var`, a `def`, a parameter, a pattern."""
    found: dict[str, list[int]] = {}
    opened: list[int] = []
    for i, token in enumerate(tokens):
        following = "".join(each.text for each in tokens[i + 1 : i + 3])
        if token.text == "(":
            opened.append(i)
        elif token.text == ")":
            start = opened.pop() if opened else i
            bound = tokens[start:i] if following == "=>" else ()
            budget.step(len(bound))
            for each in bound:
                found.setdefault(each.text, []).append(-1)
        elif token.kind != "word":
            continue
        elif token.text in _DEFINE and i + 1 < len(tokens):
            at = _assigned(tokens, i + 2)
            if at is not None:
                found.setdefault(tokens[i + 1].text, []).append(at if token.text == "val" else -1)
        elif following in ("=>", "<-") or (following[:1] == ":" and (i == 0 or tokens[i - 1].text not in _DEFINE)):
            found.setdefault(token.text, []).append(-1)
    return found


def _assigned(tokens: Sequence[Token], i: int) -> int | None:
    """The token after the `=` of a definition, which may have a type."""
    for at in range(i, min(i + 12, len(tokens))):
        if tokens[at].text == "=":
            return at + 1
        if tokens[at].text in (*_DEFINE, "{", "}"):
            return None
    return None


def _unescaped(escape: str) -> str:
    if escape[1] == "u":
        return chr(int(escape.lstrip("\\u"), 16))
    return _ESCAPES.get(escape[1], escape[1])
