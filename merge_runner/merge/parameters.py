"""The parameters of a statement, `:name` and `?`, to which a caller of Spark gives values."""

from __future__ import annotations

from collections.abc import Iterator

from merge_runner.merge.syntax.lexer import Token, lex
from merge_runner.text import Span


def parameters(text: str) -> Iterator[tuple[str, Span]]:
    """Give the name and place of each parameter of a statement that `parse` took, each name once; `?` has none."""
    if ":" not in text and "?" not in text:
        return
    tokens = lex(text)
    seen: set[str] = set()
    for i, token in enumerate(tokens):
        name = _name(text, tokens, i)
        if name is not None and name not in seen:
            seen.add(name)
            yield name, Span(token.start, tokens[i + 1].end if name else token.end)


def _name(text: str, tokens: list[Token], i: int) -> str | None:
    """The name of the parameter at token i, empty for `?`; None where there is none: `v:a` is a path into a variant."""
    token = tokens[i]
    if token.key == "?":
        return ""
    if token.key != ":" or i + 1 == len(tokens) or tokens[i + 1].kind not in ("word", "name") or i == 0:
        return None
    before = tokens[i - 1]
    is_path = before.key in (")", "]") if before.kind == "op" else before.kind != "word" or before.end == token.start
    return None if is_path else text[tokens[i + 1].start : tokens[i + 1].end]
