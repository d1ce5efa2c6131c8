"""The methods of Python's strings that fill in or cut a text: `%`, format, substitute, replace, strip."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Protocol

from merge_runner.lint.containers.budget import Budget
from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.lint.containers.python_scopes import Use
from merge_runner.text import Span

Environment = Mapping[str, PiecedText | None]
"""Values of names that belong to no scope: the parameters of a call that is followed, the name of a comprehension."""

_PRINTF = re.compile(
    r"%(?:\((?P<name>[^()]*)\))?[-#0 +]*(?:\*|[1-9]\d*)?(?:\.(?:\*|\d+))?[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])"
)
_FIELD = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}:!]*)(?P<rest>(?:[:!][^{}]*)?)\}")
_TEMPLATE = re.compile(r"\$(?:(?P<escaped>\$)|(?P<named>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})")


class Formatter(Protocol):
    """What the methods ask of the values of a file."""

    def text(self, node: ast.expr, use: Use, env: Environment | None = None) -> PiecedText | None:
        """Return the text of an expression, where known."""

    def format_value(self, node: ast.expr, use: Use, at: Origin, env: Environment | None = None) -> PiecedText:
        """Return what formatting an expression gives."""

    def hole_at(self, node: ast.expr, use: Use, at: Origin) -> PiecedText:
        """Return the placeholder of an expression at a range."""

    def dictionary(self, node: ast.expr, use: Use) -> tuple[ast.Dict, Use] | None:
        """Return the dict that an expression is, and where it is written."""

    @property
    def budget(self) -> Budget:
        """What the values of the file may take."""


def printf(values: Formatter, text: PiecedText, arguments: ast.expr, use: Use, env: Environment) -> PiecedText:
    positional = list(arguments.elts) if isinstance(arguments, ast.Tuple) else [arguments]
    by_name = values.dictionary(arguments, use)
    place = by_name[1] if by_name is not None else use
    count = 0
    edits = []
    for field in _PRINTF.finditer(text.text):
        span = Span(*field.span())
        at = _whole(text, span, use.file.origin(arguments))
        if field["kind"] == "%":
            edits.append((span, PiecedText.from_origin("%", at)))
            continue
        value: ast.expr | None = None
        if field["name"] is not None:
            value = entry(by_name[0], field["name"]) if by_name is not None else None
            placeholder = "{" + field["name"] + "}"
        else:
            value = positional[count] if count < len(positional) and (len(positional) > 1 or not by_name) else None
            placeholder = field[0]
            count += 1
        unknown = PiecedText.filled(placeholder, at)
        edits.append((span, values.format_value(value, place, at, env) if value is not None else unknown))
    return text.edited(edits)


def _format(values: Formatter, text: PiecedText, node: ast.Call, use: Use, env: Environment) -> PiecedText:
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    dictionaries = [values.dictionary(keyword.value, use) for keyword in node.keywords if keyword.arg is None]
    count = 0
    edits = []
    for field in _FIELD.finditer(text.text):
        span = Span(*field.span())
        at = _whole(text, span, use.file.origin(node))
        name = field["name"]
        if name is None:
            edits.append((span, PiecedText.from_origin(field[0][0], at)))
            continue
        value: ast.expr | None = keywords.get(name)
        place = use
        if name == "" or name.isdigit():
            index = count if name == "" else int(name)
            count += 1
            positional = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
            value = positional[index] if index < len(positional) == len(node.args) else None
        elif value is None:
            for dictionary in dictionaries:
                if dictionary is not None and (entry_value := entry(dictionary[0], name)) is not None:
                    value, place = entry_value, dictionary[1]
        if value is not None and not field["rest"]:
            edits.append((span, values.format_value(value, place, at, env)))
        else:
            edits.append((span, PiecedText.filled(field[0], at)))
    return text.edited(edits)


def _substitute(values: Formatter, text: PiecedText, node: ast.Call, use: Use, env: Environment) -> PiecedText:
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    dictionary = values.dictionary(node.args[0], use) if node.args else None
    edits = []
    for field in _TEMPLATE.finditer(text.text):
        span = Span(*field.span())
        at = _whole(text, span, use.file.origin(node))
        name = field["named"] or field["braced"]
        value, place = keywords.get(name) if name else None, use
        if value is None and dictionary is not None and name:
            value, place = entry(dictionary[0], name), dictionary[1]
        if field["escaped"]:
            edits.append((span, PiecedText.from_origin("$", at)))
        else:
            new = values.format_value(value, place, at, env) if value is not None else PiecedText.filled(field[0], at)
            edits.append((span, new))
    return text.edited(edits)


def _replace(values: Formatter, text: PiecedText, node: ast.Call, use: Use, env: Environment) -> PiecedText | None:
    if len(node.args) < 2:
        return None
    old = values.text(node.args[0], use, env)
    if old is None:
        return None
    replacement = values.text(node.args[1], use, env)
    at = use.file.origin(node.args[1])
    new = replacement.at(at) if replacement is not None else values.hole_at(node.args[1], use, at)
    values.budget.characters(text.text.count(old.text) * len(new.text) if old else 0)
    return text.replace(old.text, new)


def _strip(values: Formatter, text: PiecedText, node: ast.Call, use: Use, env: Environment) -> PiecedText | None:
    chars = values.text(node.args[0], use, env) if node.args else None
    if node.args and chars is None:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    how = {"lstrip": text.lstrip, "rstrip": text.rstrip}.get(name, text.strip)
    return how(chars.text if chars is not None else None)


METHODS: dict[str, Callable[[Formatter, PiecedText, ast.Call, Use, Environment], PiecedText | None]] = {
    "format": _format,
    "replace": _replace,
    "substitute": _substitute,
    "safe_substitute": _substitute,
    **dict.fromkeys(("strip", "lstrip", "rstrip"), _strip),
}


def entry(node: ast.Dict, name: str) -> ast.expr | None:
    """Return the value of a key of a dict that is written out."""
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == name:
            return value
    return None


def _whole(text: PiecedText, span: Span, other: Origin) -> Origin:
    """The range of the file that a span of the text came from; `other` where that is several files."""
    first, last = text.origin(span.start), text.origin(span.end - 1)
    if first.source != last.source or last.end < first.start:
        return other
    return Origin(first.source, first.start, last.end)
