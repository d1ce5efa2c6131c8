"""Chains of method calls, also where variables hold their parts: `b = table.merge(…)`, then `b.whenMatchedDelete()`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.lint.containers.python_scopes import Binding, Use
from merge_runner.lint.containers.python_values import Values

_LONGEST = 200
"""Calls of a chain."""


@dataclass(frozen=True)
class Link:
    """One call of a chain: `table.merge(…)` is the link `merge`, an attribute such as `spark.read` one without a call.

    `name` None: here the code may or may not add more calls.
    """

    name: str | None
    call: ast.Call | None
    node: ast.expr
    use: Use

    @property
    def origin(self) -> Origin:
        """The range of the method's name."""
        node = self.call.func if self.call is not None else self.node
        whole = self.use.file.origin(node)
        return Origin(whole.source, max(whole.end - len(self.name or ""), whole.start), whole.end)

    def sql(self, text: str) -> PiecedText:
        """Return SQL that the call means."""
        return PiecedText.from_origin(text, self.origin)

    def argument(self, place: int, *names: str) -> ast.expr | None:
        """Return the argument at a place, or one of these names; None where it is not given, or is None."""
        call = self.call
        if call is None:
            return None
        argument = call.args[place] if place < len(call.args) else None
        argument = next((keyword.value for keyword in call.keywords if keyword.arg in names), argument)
        return None if isinstance(argument, ast.Constant) and argument.value is None else argument


@dataclass(frozen=True)
class Chain:
    """What a chain begins with, and its calls in their order. `name` is the first variable in it, from its end."""

    root: ast.expr
    use: Use
    links: tuple[Link, ...] = ()
    name: str | None = None

    def index(self, name: str) -> int | None:
        """Return the place of the last call of a name."""
        return next((i for i in reversed(range(len(self.links))) if self.links[i].name == name), None)


def chain(node: ast.expr, use: Use, values: Values) -> Chain:
    """Return the chain of calls that an expression is the end of."""
    links: list[Link] = []
    name: str | None = None
    while len(links) < _LONGEST:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            links.append(Link(node.func.attr, node, node, use))
            node = node.func.value
            continue
        name = name or _variable(node)
        bindings = values.bindings(node, use)
        binding = bindings[0] if bindings else None
        if binding is None or not _is_followed(binding) or binding.value is None:
            if isinstance(node, ast.Attribute) and not bindings:
                links.append(Link(node.attr, None, node, use))
                node = node.value
                continue
            break
        if len(bindings) > 1:
            links.append(Link(None, None, node, use))
        node, use = binding.value, binding.use
    return Chain(node, use, tuple(reversed(links)), name)


def _variable(node: ast.expr) -> str | None:
    """What the author calls a value: a name, or an attribute of `self`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def _is_followed(binding: Binding) -> bool:
    return binding.kind == "assign" and not binding.path
