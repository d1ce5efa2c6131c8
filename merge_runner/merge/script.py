"""Cuts a script into its statements: at semicolons, and at the words of SQL scripting that statements follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from merge_runner.merge.find import find_merge
from merge_runner.merge.syntax.lexer import Token, scan
from merge_runner.text import Span

Kind = Literal["merge", "hidden", "other"]

_ENDS_HEAD = {
    "IF": "THEN",
    "ELSEIF": "THEN",
    "WHEN": "THEN",
    "CASE": "THEN",
    "WHILE": "DO",
    "FOR": "DO",
}
"""What begins a statement of SQL scripting, and the word after which the statements in it follow."""
_HEADS = frozenset({"BEGIN", "ELSE", "LOOP", "REPEAT"})
_COMPOUND = frozenset({*_HEADS, *_ENDS_HEAD} - {"ELSE", "ELSEIF", "WHEN"})
_ROUTINES = frozenset({"PROCEDURE", "FUNCTION"})
_EXPLAINED = frozenset({"EXPLAIN", "LOGICAL", "FORMATTED", "EXTENDED", "CODEGEN", "COST"})


@dataclass(frozen=True)
class ScriptStatement:
    """A statement of a script: its `span` without the semicolon, and whether it is a MERGE.

    `hidden`: its string, name or comment without an end takes a MERGE in, and all else that follows it.

    `words` are its first words in upper case, as many as are of use: `("CREATE", "OR", "REPLACE", "TABLE", …)`.
    `in_block`: it is inside of BEGIN … END or the like. `rows` are the variables of the FOR loops around it.
    """

    span: Span
    kind: Kind
    words: tuple[str, ...]
    in_block: bool = False
    rows: tuple[str, ...] = ()


def statements(text: str) -> Iterator[ScriptStatement]:
    """Give the statements of a script in their order.

    Strings, quoted names and comments are distinguished as in Spark; each statement of a `BEGIN … END` block, of its
    branches and loops is one by itself. Nothing is parsed, so that a statement that Spark refuses ends no other.
    """
    pending: list[Token] = []
    blocks: list[str] = []
    for token in scan(text):
        if token.key == ";":
            yield from _statement(text, pending, blocks)
            pending = []
        else:
            pending.append(token)
    yield from _statement(text, pending, blocks)


def _statement(text: str, tokens: Sequence[Token], blocks: list[str]) -> Iterator[ScriptStatement]:
    """The statement of the tokens; `blocks` are those around it, each with the variable of its rows if it has one."""
    begin = _without_heads(text, tokens, blocks)
    tokens = tokens[begin:]
    if not tokens or (tokens[0].key == "END" and len(tokens) <= 3):
        if tokens and blocks:
            blocks.pop()
        return
    kind: Kind = "other"
    merge = _merge(tokens)
    if merge is not None:
        kind = "merge"
        if all(token.key in _EXPLAINED for token in tokens[:merge]):
            tokens = tokens[merge:]
    elif tokens[-1].kind == "endless" and find_merge(text[tokens[-1].start + 1 :].lstrip("*")) is not None:
        kind = "hidden"
    span, words = Span(tokens[0].start, tokens[-1].end), tuple(token.key for token in tokens[:8])
    yield ScriptStatement(span, kind, words, bool(blocks), tuple(row for row in blocks if row))


def _merge(tokens: Sequence[Token]) -> int | None:
    """The index of the word MERGE where the tokens are a MERGE, or have one at their top level."""
    for i, depth in _depths(tokens):
        if depth or tokens[i].key != "MERGE":
            continue
        following = [token.key for token in tokens[i + 1 : i + 5]]
        into = following[:1] == ["INTO"] or following == ["WITH", "SCHEMA", "EVOLUTION", "INTO"]
        if i == 0 or (into and tokens[i - 1].key != "."):
            return i
    return None


def _without_heads(text: str, tokens: Sequence[Token], blocks: list[str]) -> int:
    """The index after `BEGIN`, `IF … THEN`, `label: LOOP` and the like, in front of the first statement inside.

    Each that an END follows is added to `blocks`.
    """
    i = 0
    while i < len(tokens):
        word = tokens[i].key
        following = tokens[i + 1].key if i + 1 < len(tokens) else ""
        if following == ":" and i + 2 < len(tokens) and tokens[i + 2].key in _COMPOUND:
            i += 2
        elif word in _HEADS:
            blocks += [""] if word in _COMPOUND else []
            i += 1
            while i < len(tokens) and tokens[i].key in ("NOT", "ATOMIC"):
                i += 1
        elif word in _ENDS_HEAD:
            row = tokens[i + 1 : i + 2] if word == "FOR" and tokens[i + 2 : i + 3] else []
            names = row and tokens[i + 2].key in ("AS", "IN")
            blocks += [row[0].span.of(text).strip("`") if names else ""] if word in _COMPOUND else []
            i = _after(tokens, i, _ENDS_HEAD[word])
        elif word == "DECLARE" and any(token.key == "HANDLER" for token in tokens[i : i + 4]):
            i = _after(tokens, i, "BEGIN")
            blocks += [""] if tokens[i - 1].key == "BEGIN" else []
        elif word == "CREATE" and any(token.key in _ROUTINES for token in tokens[i : i + 5]):
            i = _after(tokens, i, "BEGIN", "AS")
            blocks += [""] if tokens[i - 1].key == "BEGIN" else []
        else:
            return i
    return i


def _after(tokens: Sequence[Token], start: int, *words: str) -> int:
    """The index after the first of the words that is in no parentheses; that of the end where there is none."""
    for i, depth in _depths(tokens[start:]):
        if depth == 0 and tokens[start + i].key in words:
            return start + i + 1
    return len(tokens)


def _depths(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The indices of the tokens, each with how many parentheses are open there."""
    depth = 0
    for i, token in enumerate(tokens):
        if token.key == ")":
            depth -= 1
        yield i, depth
        if token.key == "(":
            depth += 1
