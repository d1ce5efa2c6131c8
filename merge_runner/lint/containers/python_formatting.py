"""The methods of Python's strings that fill in or cut a text: `%`, format, substitute, replace, strip."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Protocol

from merge_runner.lint.containers.budget import Budget
from merge_runner.lint.containers.python_scopes import Use
from merge_runner.lint.containers.traced import Origin, Traced
from merge_runner.text import Span

Environment = Mapping[str, Traced | None]
"""Values of names that belong to no scope: the parameters of a call that is followed, the name of a comprehension."""

_PRINTF = re.compile(
    r"%(?:\((?P<name>[^()]*)\))?[-#0 +]*(?:\*|[1-9]\d*)?(?:\.(?:\*|\d+))?[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])"
)
_FIELD = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}:!]*)(?P<rest>(?:[:!][^{}]*)?)\}")
_TEMPLATE = re.compile(r"\$(?:(?P<escaped>\$)|(?P<named>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})")


class Shows(Protocol):
    """What the methods ask of the values of a file."""

    def text(self, node: ast.expr, use: Use, env: Environment | None = None) -> Traced | None:
        """Return the text of an expression, where known."""

    def shown(self, node: ast.expr, use: Use, at: Origin, env: Environment | None = None) -> Traced:
        """Return what formatting an expression gives."""

    def hole_at(self, node: ast.expr, use: Use, at: Origin) -> Traced:
        """Return the placeholder of an expression at a range."""

    def dictionary(self, node: ast.expr, use: Use) -> tuple[ast.Dict, Use] | None:
        """Return the dict that an expression is, and where it is written."""

    @property
    def budget(self) -> Budget:
        """What the values of the file may take."""


def printf(values: Shows, text: Traced, given: ast.expr, use: Use, env: Environment) -> Traced:
    listed = list(given.elts) if isinstance(given, ast.Tuple) else [given]
    named = values.dictionary(given, use)
    place = named[1] if named is not None else use
    count = 0
    edits = []
    for found in _PRINTF.finditer(text.text):
        span = Span(*found.span())
        at = _whole(text, span, use.file.origin(given))
        if found["kind"] == "%":
            edits.append((span, Traced.made("%", at)))
            continue
        value: ast.expr | None = None
        if found["name"] is not None:
            value = entry(named[0], found["name"]) if named is not None else None
            spelled = "{" + found["name"] + "}"
        else:
            value = listed[count] if count < len(listed) and (len(listed) > 1 or not named) else None
            spelled = found[0]
            count += 1
        edits.append((span, values.shown(value, place, at, env) if value is not None else Traced.filled(spelled, at)))
    return text.edited(edits)


def _format(values: Shows, text: Traced, node: ast.Call, use: Use, env: Environment) -> Traced:
    named = {each.arg: each.value for each in node.keywords if each.arg is not None}
    spread = [values.dictionary(each.value, use) for each in node.keywords if each.arg is None]
    count = 0
    edits = []
    for found in _FIELD.finditer(text.text):
        span = Span(*found.span())
        at = _whole(text, span, use.file.origin(node))
        name = found["name"]
        if name is None:
            edits.append((span, Traced.made(found[0][0], at)))
            continue
        value: ast.expr | None = named.get(name)
        place = use
        if name == "" or name.isdigit():
            index = count if name == "" else int(name)
            count += 1
            given = [each for each in node.args if not isinstance(each, ast.Starred)]
            value = given[index] if index < len(given) == len(node.args) else None
        elif value is None:
            for each in spread:
                if each is not None and (given_value := entry(each[0], name)) is not None:
                    value, place = given_value, each[1]
        if value is not None and not found["rest"]:
            edits.append((span, values.shown(value, place, at, env)))
        else:
            edits.append((span, Traced.filled(found[0], at)))
    return text.edited(edits)


def _substitute(values: Shows, text: Traced, node: ast.Call, use: Use, env: Environment) -> Traced:
    named = {each.arg: each.value for each in node.keywords if each.arg is not None}
    given = values.dictionary(node.args[0], use) if node.args else None
    edits = []
    for found in _TEMPLATE.finditer(text.text):
        span = Span(*found.span())
        at = _whole(text, span, use.file.origin(node))
        name = found["named"] or found["braced"]
        value, place = named.get(name) if name else None, use
        if value is None and given is not None and name:
            value, place = entry(given[0], name), given[1]
        if found["escaped"]:
            edits.append((span, Traced.made("$", at)))
        else:
            new = values.shown(value, place, at, env) if value is not None else Traced.filled(found[0], at)
            edits.append((span, new))
    return text.edited(edits)


def _replace(values: Shows, text: Traced, node: ast.Call, use: Use, env: Environment) -> Traced | None:
    if len(node.args) < 2:
        return None
    old = values.text(node.args[0], use, env)
    if old is None:
        return None
    found = values.text(node.args[1], use, env)
    at = use.file.origin(node.args[1])
    new = found.at(at) if found is not None else values.hole_at(node.args[1], use, at)
    values.budget.characters(text.text.count(old.text) * len(new.text) if old else 0)
    return text.replace(old.text, new)


def _strip(values: Shows, text: Traced, node: ast.Call, use: Use, env: Environment) -> Traced | None:
    chars = values.text(node.args[0], use, env) if node.args else None
    if node.args and chars is None:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    how = {"lstrip": text.lstrip, "rstrip": text.rstrip}.get(name, text.strip)
    return how(chars.text if chars is not None else None)


METHODS: dict[str, Callable[[Shows, Traced, ast.Call, Use, Environment], Traced | None]] = {
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


def _whole(text: Traced, span: Span, other: Origin) -> Origin:
    """The range of the file that a span of the text came from; `other` where that is several files."""
    first, last = text.origin(span.start), text.origin(span.end - 1)
    if first.source != last.source or last.end < first.start:
        return other
    return Origin(first.source, first.start, last.end)
