"""What the strings of Python code are, as far as the code alone says: constants and variables are put together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from merge_runner.lint.containers.budget import Budget
from merge_runner.lint.containers.pieced_text import Origin, PiecedText
from merge_runner.lint.containers.python_formatting import METHODS, Environment, entry, printf
from merge_runner.lint.containers.python_scopes import Binding, Function, Names, Scope, Use, visible
from merge_runner.lint.containers.python_strings import constant_text, formatted_pieces

Item = tuple[ast.expr, Use]
"""An expression and where it is written."""

_DEEPEST = 12
"""Names and calls that are followed for one value."""
_MOST = 50
"""Texts that one expression may give, and elements of a list that is looked at."""
_LISTS = frozenset({"enumerate", "list", "tuple", "sorted", "reversed"})
_DEDENTS = frozenset({"dedent", "cleandoc"})


@dataclass
class Values:
    """Folds the expressions of files that are read together. `read_literals` are the ids of their literals."""

    names: Names
    read_literals: set[int] = field(default_factory=set)
    budget: Budget = field(default_factory=Budget)
    _depth: int = 0

    def texts(self, node: ast.expr, use: Use) -> list[PiecedText]:
        """Return the texts that an expression may give: several for a loop, a branch, a parameter; none: not known."""
        with self._deeper() as shallow:
            if not shallow:
                return []
            text = self.text(node, use)
            if text is not None:
                return [text]
            if isinstance(node, ast.IfExp):
                return [*self.texts(node.body, use), *self.texts(node.orelse, use)]
            if isinstance(node, ast.Name):
                bindings = self._visible(use, node.id)
                if any(binding.kind == "augment" for binding in bindings[1:]):
                    # A loop or a branch adds to it: what, and how often, is not known.
                    at = use.file.origin(node)
                    more = PiecedText.from_origin(" ", at) + PiecedText.filled("{…}", at)
                    return [text + more for text in self._binding_texts(bindings[0], node.id)]
                return [text for binding in bindings for text in self._binding_texts(binding, node.id)][:_MOST]
            return []

    def text(self, node: ast.expr, use: Use, env: Environment | None = None) -> PiecedText | None:
        """Return the one text that an expression gives, with placeholders for what is not known; None: no such text."""
        with self._deeper() as shallow:
            reader = _READERS.get(type(node)) if shallow else None
            text = reader(self, node, use, env or {}) if reader is not None else None
            self.budget.characters(len(text.text) if text is not None else 0)
            return text

    def items(self, node: ast.expr, use: Use) -> list[Item] | None:
        """Return the elements of a list, tuple or set that is written out; None: not known."""
        with self._deeper() as shallow:
            if not shallow:
                return None
            if isinstance(node, ast.List | ast.Tuple | ast.Set):
                is_known = len(node.elts) <= _MOST and not any(
                    isinstance(element, ast.Starred) for element in node.elts
                )
                return [(element, use) for element in node.elts] if is_known else None
            if isinstance(node, ast.Name):
                binding = _only(self._visible(use, node.id))
                if binding is None or binding.kind != "assign" or binding.value is None or binding.path:
                    return None
                if node.id in self.names.changed_names:
                    return None
                return self.items(binding.value, binding.use)
            if isinstance(node, ast.Call):
                return self._dictionary_items(node, use)
            return None

    def dictionary(self, node: ast.expr, use: Use) -> tuple[ast.Dict, Use] | None:
        """Return the dict that an expression is, as it is written out, and where."""
        if isinstance(node, ast.Dict):
            return node, use
        if isinstance(node, ast.Name) and node.id in self.names.changed_names:
            return None
        binding = _only(self._visible(use, node.id)) if isinstance(node, ast.Name) else None
        if binding is not None and binding.kind == "assign" and binding.value is not None and not binding.path:
            with self._deeper() as shallow:
                return self.dictionary(binding.value, binding.use) if shallow else None
        return None

    def bindings(self, node: ast.expr, use: Use) -> list[Binding]:
        """Return what a name, or an attribute of `self`, may be bound to where it is used."""
        self.budget.step()
        if isinstance(node, ast.Name):
            return self._visible(use, node.id)
        return self._members(node, use) if isinstance(node, ast.Attribute) else []

    def filled(self, node: ast.expr, use: Use, env: Environment | None = None) -> PiecedText:
        """Return the text of an expression, or a placeholder that shows the expression in braces."""
        text = self.text(node, use, env)
        return text if text is not None else self.hole(node, use)

    def hole(self, node: ast.expr, use: Use) -> PiecedText:
        """Return the placeholder of an expression."""
        return PiecedText.filled("{" + use.file.written(node) + "}", use.file.origin(node))

    def format_value(self, node: ast.expr, use: Use, at: Origin, env: Environment | None = None) -> PiecedText:
        """Return what formatting an expression gives, at the range of the field that it is put in."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return PiecedText.from_origin(str(node.value), at)
        text = self.text(node, use, env)
        return text.at(at) if text is not None else PiecedText.filled("{" + use.file.written(node) + "}", at)

    @contextmanager
    def _deeper(self) -> Iterator[bool]:
        self.budget.step()
        self._depth += 1
        try:
            yield self._depth <= _DEEPEST * 4
        finally:
            self._depth -= 1

    def _visible(self, use: Use, name: str) -> list[Binding]:
        """The bindings of a name that a use may see; each that is looked at is a step."""
        scope: Scope | None = use.scope
        while scope is not None:
            self.budget.step(len(scope.names.get(name, ())))
            scope = scope.parent
        return visible(use, name)

    def _binding_texts(self, binding: Binding, name: str) -> Iterator[PiecedText]:
        """The texts that one binding may give."""
        value, use = binding.value, binding.use
        if binding.kind == "parameter":
            yield from self._argument_texts(use.scope, name)
        elif binding.kind == "assign" and value is not None and not binding.path:
            yield from self.texts(value, use)
        elif binding.kind == "augment" and (text := self._augment_text(binding, name)) is not None:
            yield text
        elif binding.kind == "loop" and value is not None:
            for item, place in self.items(value, use) or ():
                part = _part(item, binding.path)
                yield from self.texts(part, place) if part is not None else ()

    def _augment_text(self, binding: Binding, name: str) -> PiecedText | None:
        earlier = _only(self._visible(binding.use, name))
        if earlier is None or binding.value is None:
            return None
        if earlier.kind == "augment":
            start = self._augment_text(earlier, name)
        else:
            start = self.text(earlier.value, earlier.use) if earlier.value is not None and not earlier.path else None
        if start is None:
            return None
        self.budget.characters(len(start.text))
        return start + self.filled(binding.value, binding.use)

    def _argument_texts(self, function: Scope, name: str) -> Iterator[PiecedText]:
        """The texts that the calls of a function in these files give to its parameter."""
        node = function.node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        for call, use in self.names.calls:
            self.budget.step()
            if _callee_name(call) == node.name and (argument := arguments(call, node).get(name)) is not None:
                yield from self.texts(argument, use)

    def _dictionary_items(self, node: ast.Call, use: Use) -> list[Item] | None:
        """The elements of `QUERIES.values()`, `QUERIES.items()`, `enumerate(QUERIES)`."""
        callee = node.func
        if isinstance(callee, ast.Attribute) and callee.attr in ("values", "items") and not node.args:
            dictionary = self.dictionary(callee.value, use)
            if dictionary is None or None in dictionary[0].keys:
                return None
            pairs = zip(dictionary[0].keys, dictionary[0].values, strict=True)
            if callee.attr == "values":
                return [(value, dictionary[1]) for _, value in pairs]
            return [(_pair(key, value), dictionary[1]) for key, value in pairs if key is not None]
        if not isinstance(callee, ast.Name) or not node.args:
            return None
        inner = self.items(node.args[0], use) if callee.id in _LISTS else None
        if inner is None or callee.id != "enumerate":
            return inner
        return [(_pair(value, value), place) for value, place in inner]

    def _constant(self, node: ast.Constant, use: Use, env: Environment) -> PiecedText | None:
        if not isinstance(node.value, str):
            return None
        self.read_literals.add(id(node))
        return constant_text(use.file, node, node.value)

    def _f_string(self, node: ast.JoinedStr, use: Use, env: Environment) -> PiecedText:
        self.read_literals.update(id(value) for value in node.values)
        parts = []
        for piece in formatted_pieces(use.file, node):
            if isinstance(piece, PiecedText):
                parts.append(piece)
                continue
            at, value = piece
            plain = value.conversion in (-1, ord("s")) and value.format_spec is None
            parts.append(self.format_value(value.value, use, at, env) if plain else self.hole_at(value.value, use, at))
        return PiecedText.join(parts)

    def hole_at(self, node: ast.expr, use: Use, at: Origin) -> PiecedText:
        """Return the placeholder of an expression at a range."""
        return PiecedText.filled("{" + use.file.written(node) + "}", at)

    def _operation(self, node: ast.BinOp, use: Use, env: Environment) -> PiecedText | None:
        if isinstance(node.op, ast.Add):
            terms = _terms(node)
            texts = [self.text(term, use, env) for term in terms]
            if all(text is None for text in texts):
                return None
            pairs = zip(terms, texts, strict=True)
            return PiecedText.join(text if text is not None else self.hole(term, use) for term, text in pairs)
        if isinstance(node.op, ast.Mod):
            left = self.text(node.left, use, env)
            return printf(self, left, node.right, use, env) if left is not None else None
        return None

    def _name(self, node: ast.Name, use: Use, env: Environment) -> PiecedText | None:
        if node.id in env:
            return env[node.id]
        return self._of_binding(_only(self._visible(use, node.id)), node.id)

    def _of_binding(self, binding: Binding | None, name: str) -> PiecedText | None:
        if binding is None or binding.value is None or binding.path:
            return None
        if binding.kind == "augment":
            return self._augment_text(binding, name)
        return self.text(binding.value, binding.use) if binding.kind == "assign" else None

    def _attribute(self, node: ast.Attribute, use: Use, env: Environment) -> PiecedText | None:
        """`self.NAME` and `Class.NAME`, assigned once in the class."""
        return self._of_binding(_only(self._members(node, use)), node.attr)

    def _members(self, node: ast.Attribute, use: Use) -> list[Binding]:
        if not isinstance(node.value, ast.Name):
            return []
        scope: Scope | None = use.scope
        while scope is not None:
            owner = scope.classes.get(node.value.id)
            if owner is None and node.value.id in ("self", "cls") and isinstance(scope.node, ast.ClassDef):
                owner = scope
            if owner is not None:
                return [*owner.names.get(node.attr, ()), *owner.names.get(f"self.{node.attr}", ())]
            scope = scope.parent
        return []

    def _subscript(self, node: ast.Subscript, use: Use, env: Environment) -> PiecedText | None:
        dictionary = self.dictionary(node.value, use)
        key = node.slice
        if dictionary is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        value = entry(dictionary[0], key.value)
        return self.text(value, dictionary[1]) if value is not None else None

    def _walrus(self, node: ast.NamedExpr, use: Use, env: Environment) -> PiecedText | None:
        return self.text(node.value, use, env)

    def _call(self, node: ast.Call, use: Use, env: Environment) -> PiecedText | None:
        callee = node.func
        if isinstance(callee, ast.Attribute):
            if callee.attr == "join" and len(node.args) == 1:
                return self._join(callee.value, node.args[0], use, env)
            if callee.attr in _DEDENTS and len(node.args) == 1:
                return self._dedent_text(node.args[0], use, env, callee.attr)
            method = METHODS.get(callee.attr)
            receiver = self.text(callee.value, use, env) if method is not None else None
            if method is not None and receiver is not None:
                return method(self, receiver, node, use, env)
        if isinstance(callee, ast.Name) and node.args and callee.id in (*_DEDENTS, "str", "Template"):
            return self._dedent_text(node.args[0], use, env, callee.id)
        if isinstance(callee, ast.Attribute) and callee.attr == "Template" and node.args:
            return self.text(node.args[0], use, env)
        return self._return_text(node, use, env)

    def _dedent_text(self, node: ast.expr, use: Use, env: Environment, how: str) -> PiecedText | None:
        text = self.text(node, use, env)
        if text is None or how not in _DEDENTS:
            return text
        return text.dedent().strip() if how == "cleandoc" else text.dedent()

    def _return_text(self, node: ast.Call, use: Use, env: Environment) -> PiecedText | None:
        """What a function of these files returns, where it has one return."""
        scopes = self.names.functions.get(_callee_name(node)) or []
        function = scopes[0].node if len(scopes) == 1 else None
        if not isinstance(function, ast.FunctionDef):
            return None
        nodes = list(ast.walk(function))
        self.budget.step(len(nodes))
        returns = [part for part in nodes if isinstance(part, ast.Return)]
        if len(returns) != 1 or returns[0].value is None:
            return None
        inner: dict[str, PiecedText | None] = {}
        values = arguments(node, function)
        for name in scopes[0].names:
            if _is_parameter(scopes[0], name):
                inner[name] = self.text(values[name], use, env) if name in values else None
        at = returns[0]
        # Names of the function's own scope that depend on its parameters are read without them.
        return self.text(returns[0].value, Use(scopes[0], (scopes[0].file.number, at.lineno, at.col_offset), ()), inner)

    def _join(self, glue: ast.expr, iterable: ast.expr, use: Use, env: Environment) -> PiecedText | None:
        between = self.text(glue, use, env)
        if between is None:
            return None
        elements = self._elements(iterable, use, env)
        if elements is None:
            return None
        self.budget.characters(len(between.text) * len(elements))
        parts: list[PiecedText] = []
        for part in elements:
            parts += [between, part] if parts else [part]
        return PiecedText.join(parts)

    def _elements(self, node: ast.expr, use: Use, env: Environment) -> list[PiecedText] | None:
        if not isinstance(node, ast.ListComp | ast.GeneratorExp):
            items = self.items(node, use)
            return None if items is None else [self.filled(item, place, env) for item, place in items]
        if len(node.generators) != 1 or node.generators[0].ifs:
            return None
        target = node.generators[0].target
        items = self.items(node.generators[0].iter, use)
        if items is None or not isinstance(target, ast.Name):
            return None
        return [self.filled(node.elt, use, {**env, target.id: self.text(item, place)}) for item, place in items]


_READERS: dict[type[ast.expr], Callable[..., PiecedText | None]] = {
    ast.Constant: Values._constant,
    ast.JoinedStr: Values._f_string,
    ast.BinOp: Values._operation,
    ast.Name: Values._name,
    ast.Attribute: Values._attribute,
    ast.Subscript: Values._subscript,
    ast.NamedExpr: Values._walrus,
    ast.Call: Values._call,
}


def arguments(call: ast.Call, function: Function) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of the function's parameters, as far as they are written out."""
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    values: dict[str, ast.expr] = {}
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        values[name] = value
    values.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
    return values


def _terms(node: ast.BinOp) -> list[ast.expr]:
    """The operands of a chain of `+`, which may be hundreds of literals."""
    operands: list[ast.expr] = []
    inner: ast.expr = node
    while isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
        operands.append(inner.right)
        inner = inner.left
    return [inner, *reversed(operands)]


def _callee_name(call: ast.Call) -> str:
    """The last part of the name of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _only(bindings: list[Binding]) -> Binding | None:
    return bindings[0] if len(bindings) == 1 else None


def _is_parameter(scope: Scope, name: str) -> bool:
    return any(binding.kind == "parameter" for binding in scope.names[name])


def _pair(first: ast.expr, second: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Tuple([first, second], ast.Load()), second)


def _part(item: ast.expr, path: tuple[int, ...]) -> ast.expr | None:
    for index in path:
        if not isinstance(item, ast.Tuple | ast.List) or index >= len(item.elts):
            return None
        item = item.elts[index]
    return item
