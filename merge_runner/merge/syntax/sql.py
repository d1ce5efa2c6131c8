"""A text with its tokens and what is inside what: parentheses, CASE … END, the angle brackets of a type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.keywords import COMPLEX_TYPES, WANT_OPERAND
from merge_runner.merge.syntax.lexer import Token, lex
from merge_runner.merge.syntax.placeholder import is_placeholder
from merge_runner.text import Span

COMPARISONS = frozenset({"=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">=", "!<", "!>"})
BINARY = COMPARISONS | {"+", "-", "*", "/", "%", "&", "|", "^", "||", "<<", ">>", ">>>"}
_CLOSERS = {"(": ")", "[": "]"}
_PAIRED = COMPLEX_TYPES | {"(", "[", ")", "]", "CASE", "END"}
_NO_OPERAND_AFTER = BINARY - {"+", "-", "*"} | {")", "]", ",", ".", "::", ";"}
"""Where one of these follows, the word CASE is a column."""


@dataclass(frozen=True)
class Sql:
    """A text and its tokens; `partner[i]` is the index of the token that closes what token i opens, else -1."""

    text: str
    tokens: list[Token]
    partner: list[int]

    @cached_property
    def names_changes(self) -> bool:
        """Whether the word CHANGES is anywhere in the text: each of its expressions asks for it."""
        return "changes" in self.text.lower()

    def key(self, i: int) -> str:
        """The key of token i; empty after the last token."""
        return self.tokens[i].key if i < len(self.tokens) else ""

    def kind(self, i: int) -> str:
        """The kind of token i; empty after the last token."""
        return self.tokens[i].kind if i < len(self.tokens) else ""

    def word(self, i: int) -> str:
        """Token i as the author wrote it; empty after the last token."""
        return self.text[self.tokens[i].start : self.tokens[i].end] if i < len(self.tokens) else ""

    def is_filled(self, i: int) -> bool:
        """Whether token i is one placeholder, which may be a value, a list or any other piece of SQL."""
        return self.kind(i) == "name" and is_placeholder(self.word(i))

    def span(self, start: int, stop: int) -> Span:
        """The span of the tokens [start, stop); where there are none, the empty span after the token before."""
        if start < stop:
            return Span(self.tokens[start].start, self.tokens[stop - 1].end)
        end = self.tokens[start - 1].end if start else 0
        return Span(end, end)

    def at(self, i: int) -> Span:
        """The span of token i; after the last token the end of the text."""
        return self.tokens[i].span if i < len(self.tokens) else Span(len(self.text), len(self.text))

    def top(self, start: int, stop: int) -> Iterator[int]:
        """The indices of the tokens in [start, stop) that are inside no parenthesis or CASE opened there."""
        partner = self.partner
        i = start
        while i < stop:
            yield i
            i = (partner[i] if partner[i] > i else i) + 1

    def split(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The ranges between the top-level commas of [start, stop); none for an empty range."""
        if start == stop:
            return []
        cuts = [i for i in self.top(start, stop) if self.tokens[i].key == ","]
        return list(zip([start, *(cut + 1 for cut in cuts)], [*cuts, stop], strict=True))


@lru_cache(maxsize=64)
def tokenize(text: str) -> Sql:
    """`text` cut into tokens with their partners. Raises MergeSyntaxError as `lex`, and for a lonely parenthesis.

    Several parts of the analysis ask for the tokens of a statement: no caller may change them.
    """
    tokens = lex(text)
    pairs = _Pairs(tokens)
    for i, token in enumerate(tokens):
        if token[1] in _PAIRED:
            pairs.add(i, token)
    pairs.finish()
    return Sql(text, tokens, pairs.partner)


class _Pairs:
    """Finds the partners, token by token."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.partner = [-1] * len(tokens)
        self.open_pairs: list[int] = []
        self.type_ends: set[int] = set()
        self.spare: dict[int, int] = {}
        """By CASE, the last END inside that was taken for a column: it counts if no other END comes."""

    def add(self, i: int, token: Token) -> None:
        key = token.key
        if key in _CLOSERS:
            self.open_pairs.append(i)
        elif key in (")", "]"):
            self._leave_cases()
            if not self.open_pairs or _CLOSERS[self.tokens[self.open_pairs[-1]].key] != key:
                raise MergeSyntaxError(f"the {key} closes nothing", token.span, "a bracket in front of it is missing")
            self.partner[self.open_pairs.pop()] = i
        elif key == "CASE":
            if i + 1 < len(self.tokens) and self.tokens[i + 1].key not in _NO_OPERAND_AFTER:
                self.open_pairs.append(i)
        elif key == "END":
            # A column called END follows an operator; the END of a CASE follows an operand.
            if self._in_case() and self._ends_operand(i - 1):
                self.partner[self.open_pairs.pop()] = i
            elif self._in_case():
                self.spare[self.open_pairs[-1]] = i
        elif key in COMPLEX_TYPES and i > 0 and self.tokens[i - 1].key in ("::", "AS"):
            self.type_ends.add(_match_type(self.tokens, self.partner, i + 1))

    def finish(self) -> None:
        self._leave_cases()
        if self.open_pairs:
            token = self.tokens[self.open_pairs[-1]]
            raise MergeSyntaxError(
                f"the {token.key} is never closed", token.span, f"a {_CLOSERS[token.key]} is missing"
            )

    def _in_case(self) -> bool:
        return bool(self.open_pairs) and self.tokens[self.open_pairs[-1]].key == "CASE"

    def _ends_operand(self, i: int) -> bool:
        token = self.tokens[i]
        if token.kind == "op":
            return token.key in (")", "]", "?") or i in self.type_ends
        return token.key not in WANT_OPERAND

    def _leave_cases(self) -> None:
        """A CASE without END is a column; in `CASE case WHEN … END` it is the second one."""
        while self._in_case():
            i = self.open_pairs.pop()
            self.partner[i] = self.spare.get(i, -1)
            if self.partner[i] < 0 and self.tokens[i + 1].key == "CASE":
                self.partner[i], self.partner[i + 1] = self.partner[i + 1], -1


def _match_type(tokens: list[Token], partner: list[int], start: int) -> int:
    """Pairs the angle brackets of `map<string, array<int>>` after a complex type, so that its commas are inside.

    The index of the last parenthesis; -1 where there is none.
    """
    open_brackets: list[int] = []
    for i in range(start, len(tokens)):
        key = tokens[i].key
        if key == "<":
            open_brackets.append(i)
        elif key in (">", ">>", ">>>"):
            for _ in key:
                if open_brackets:
                    partner[open_brackets.pop()] = i
        if not open_brackets:
            return i if key in (">", ">>", ">>>") else -1
    return -1
