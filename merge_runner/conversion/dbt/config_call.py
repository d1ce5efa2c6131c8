"""The calls of `config()` in a dbt model: their keys, and the Jinja expression of each value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from merge_runner.lint.dbt.config import CONFIG, JINJA_END, STRING, closing
from merge_runner.text import Span

_NAME = re.compile(r"\s*(?:([A-Za-z_]\w*)|['\"]([^'\"]+)['\"])\s*[=:]\s*")
_CONSTANTS: Mapping[str, bool | None] = {"true": True, "false": False, "none": None}


class _NotLiteral:
    """The value of an expression that only Jinja can evaluate."""


UNKNOWN: Final = _NotLiteral()


@dataclass(frozen=True)
class Value:
    """A value of a config: `expression` is Jinja, `value` is what it means; UNKNOWN where only rendering shows that.

    `written` is the Jinja that it has been rendered from, None where it is plain.
    """

    expression: str
    value: Any
    written: str | None = None

    @classmethod
    def of(cls, value: Any) -> Value:
        """Return a plain value, such as one of YAML."""
        return cls(repr(value), value)

    @property
    def is_known(self) -> bool:
        """Whether its value is known without rendering."""
        return self.value is not UNKNOWN


@dataclass(frozen=True)
class ConfigCall:
    """A `{{ config(…) }}`: its span with the braces, its values by key, and the spans of these."""

    span: Span
    values: Mapping[str, Value]
    spans: Mapping[str, Span]


def config_calls(text: str) -> tuple[ConfigCall, ...]:
    """Return the calls of `config()` that are statements, in their order."""
    return tuple(_calls(text))


def _calls(text: str) -> Iterator[ConfigCall]:
    for call in CONFIG.finditer(text):
        close = closing(text, call.end())
        end = JINJA_END.match(text, close) if close is not None else None
        if close is None or end is None:
            continue
        values: dict[str, Value] = {}
        spans: dict[str, Span] = {}
        for key, span in _arguments(text, Span(call.end(), close - 1)):
            values[key], spans[key] = _value(span.of(text)), span
        yield ConfigCall(Span(call.start(), end.end()), values, spans)


def _arguments(text: str, inside: Span) -> Iterator[tuple[str, Span]]:
    """Yield the keyword arguments of a call, or the items of the one dict that it is given."""
    for span in _items(text, inside):
        argument = span.of(text)
        if argument.startswith("{") and argument.endswith("}"):
            yield from _arguments(text, Span(span.start + 1, span.end - 1))
        elif (name := _NAME.match(text, span.start, span.end)) is not None:
            yield name[1] or name[2], Span(name.end(), span.end)


def _items(text: str, inside: Span) -> Iterator[Span]:
    """Yield what is between the commas of a list, without the blanks around it."""
    start = at = inside.start
    depth = 0
    while at <= inside.end:
        string = STRING.match(text, at, inside.end)
        if string is not None:
            at = string.end()
            continue
        if at == inside.end or (text[at] == "," and depth == 0):
            item = text[start:at]
            if item.strip():
                left = start + len(item) - len(item.lstrip())
                yield Span(left, start + len(item.rstrip()))
            start = at + 1
        elif text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        at += 1


def _value(expression: str) -> Value:
    try:
        tree = _Constants().visit(ast.parse(expression, mode="eval"))
        return Value(expression, ast.literal_eval(ast.fix_missing_locations(tree)))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return Value(expression, UNKNOWN)


class _Constants(ast.NodeTransformer):
    """Jinja's `true`, `false` and `none` as Python's."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(_CONSTANTS[node.id]) if node.id in _CONSTANTS else node
