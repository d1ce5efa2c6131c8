"""The names of a Python file: where each is assigned, and which assignment a use of it sees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from merge_runner.lint.containers.python_strings import PythonFile

Block = tuple[tuple[int, int], ...]
"""The branches around a statement: the compound statement (its id) and which of its bodies."""

Function = ast.FunctionDef | ast.AsyncFunctionDef

_CHANGES = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault"}
)
"""Methods that change a list, set or dict."""


@dataclass(frozen=True)
class Binding:
    """One place where a name gets a value.

    `value` is what is assigned; of `augment` (`+=`) what is added, of `loop` what is iterated over; None: not known.
    `path` are the indices by which a tuple of targets takes its part of `value`.
    """

    kind: Literal["assign", "augment", "loop", "parameter", "other"]
    value: ast.expr | None
    use: Use
    path: tuple[int, ...] = ()


@dataclass(eq=False)
class Scope:
    """A module, class or function, with the names that are assigned in it. `file` is the one that it is written in."""

    file: PythonFile
    node: Function | ast.ClassDef | ast.Module
    parent: Scope | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    functions: dict[str, Scope] = field(default_factory=dict)
    classes: dict[str, Scope] = field(default_factory=dict)


@dataclass(frozen=True)
class Use:
    """A place in the code: its scope, its number in the order of the text, and the branches around it."""

    scope: Scope
    order: tuple[int, int, int]
    block: Block

    @property
    def file(self) -> PythonFile:
        """The file that it is in."""
        return self.scope.file


@dataclass
class Names:
    """The scopes of files that are read together, and each call in them with its place."""

    module: Scope
    calls: list[tuple[ast.Call, Use]] = field(default_factory=list)
    strings: list[tuple[ast.Constant, Use]] = field(default_factory=list)
    """The string literals in expressions."""
    functions: dict[str, list[Scope]] = field(default_factory=dict)
    """By name, the functions and methods that are defined anywhere."""
    discarded: list[tuple[ast.Call, Use]] = field(default_factory=list)
    """The calls that are statements: what they return is thrown away."""
    changed_names: set[str] = field(default_factory=set)
    """Names whose list or dict a method or an assignment changes, anywhere."""

    @classmethod
    def read(cls, files: Sequence[tuple[PythonFile, ast.Module]]) -> Names:
        """Return the names of files whose modules are one: the cells of a notebook, or a single file."""
        names = cls(Scope(*files[0]))
        for file, tree in files:
            module = Scope(file, tree, names.module.parent, names.module.names, names.module.functions)
            module.classes = names.module.classes
            _Reader(names, module).statements(tree.body, ())
        return names


def visible(use: Use, name: str) -> list[Binding]:
    """Return the bindings of a name that a use may see: one where it is certain, none where the name is unknown."""
    scope: Scope | None = use.scope
    if scope is not None and name in scope.names:
        before = [binding for binding in scope.names[name] if binding.use.order < use.order]
        return _reaching_bindings(before, use) if before else scope.names[name]
    while scope is not None:
        scope = scope.parent
        if scope is not None and name in scope.names and not isinstance(scope.node, ast.ClassDef):
            bindings = scope.names[name]
            if all(not binding.use.block and binding.kind in ("assign", "augment") for binding in bindings):
                assigned = [i for i, binding in enumerate(bindings) if binding.kind == "assign"]
                return bindings[assigned[-1] :][-1:] if len(assigned) == 1 else list(bindings)
            return list(bindings)
    return []


def before(binding: Binding, name: str) -> list[Binding]:
    """Return what an augmented assignment adds to."""
    return visible(binding.use, name)


def _reaching_bindings(bindings: list[Binding], use: Use) -> list[Binding]:
    possible: list[Binding] = []
    for binding in reversed(bindings):
        if _excludes(binding.use.block, use.block):
            continue
        possible.append(binding)
        if use.block[: len(binding.use.block)] == binding.use.block:
            break
    return possible[::-1]


def _excludes(block: Block, other: Block) -> bool:
    """Whether two blocks are different branches of one statement."""
    branches = dict(block)
    return any(statement in branches and branches[statement] != branch for statement, branch in other)


class _Reader:
    """Walks the statements of one scope; functions and classes in it have readers of their own."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope

    def statements(self, body: Sequence[ast.stmt], block: Block) -> None:
        for statement in body:
            self._statement(statement, block)

    def _statement(self, node: ast.stmt, block: Block) -> None:
        use = self._use(node, block)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._function(node, use)
            return
        if isinstance(node, ast.ClassDef):
            inner = Scope(self.scope.file, node, self.scope)
            self.scope.classes[node.name] = inner
            _Reader(self.names, inner).statements(node.body, ())
            return
        self._bind_assignments(node, use)
        self._expressions(node, use)
        for number, (body, branches) in enumerate(_bodies(node)):
            self.statements(body, (*block, (id(node), number)) if branches else block)

    def _bind_assignments(self, node: ast.stmt, use: Use) -> None:
        """The names that a statement assigns itself."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, "assign", node.value, use)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, "assign", node.value, use)
        elif isinstance(node, ast.AugAssign):
            self._bind(node.target, "augment", node.value if isinstance(node.op, ast.Add) else None, use)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                self._add((alias.asname or alias.name).split(".")[0], Binding("other", None, use))
        elif isinstance(node, ast.For | ast.AsyncFor):
            self._bind(node.target, "loop", node.iter, self._use(node, (*use.block, (id(node), 0))))
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, "other", None, use)

    def _function(self, node: Function, use: Use) -> None:
        inner = Scope(self.scope.file, node, self.scope)
        self.scope.functions[node.name] = inner
        self.names.functions.setdefault(node.name, []).append(inner)
        arguments = node.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
        for parameter in parameters:
            inner.names[parameter.arg] = [Binding("parameter", None, Use(inner, use.order, ()))]
        for decorator in node.decorator_list:
            self._calls(decorator, use)
        _Reader(self.names, inner).statements(node.body, ())

    def _expressions(self, node: ast.stmt, use: Use) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self.names.discarded.append((node.value, use))
        for _, value in ast.iter_fields(node):
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, ast.expr):
                    self._calls(item, use)
                elif isinstance(item, ast.withitem):
                    self._calls(item.context_expr, use)

    def _calls(self, root: ast.expr, use: Use) -> None:
        for node in _nodes(root):
            if isinstance(node, ast.Call):
                self.names.calls.append((node, use))
                callee = node.func
                if isinstance(callee, ast.Attribute) and callee.attr in _CHANGES and isinstance(callee.value, ast.Name):
                    self.names.changed_names.add(callee.value.id)
            elif isinstance(node, ast.Constant):
                if isinstance(node.value, str):
                    self.names.strings.append((node, use))
            elif isinstance(node, ast.NamedExpr):
                self._bind(node.target, "assign", node.value, use)

    def _bind(
        self,
        target: ast.expr,
        kind: Literal["assign", "augment", "loop", "other"],
        value: ast.expr | None,
        use: Use,
        path: tuple[int, ...] = (),
    ) -> None:
        if isinstance(target, ast.Name):
            self._add(target.id, Binding(kind, value, use, path))
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            self._add(f"self.{target.attr}", Binding(kind, value, use, path), in_class=True)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self.names.changed_names.add(target.value.id)
        elif isinstance(target, ast.Tuple | ast.List):
            for index, element in enumerate(target.elts):
                self._bind(element, kind, value, use, (*path, index))

    def _add(self, name: str, binding: Binding, *, in_class: bool = False) -> None:
        scope: Scope | None = self.scope
        while in_class and scope is not None and not isinstance(scope.node, ast.ClassDef):
            scope = scope.parent
        if scope is not None:
            scope.names.setdefault(name, []).append(binding)

    def _use(self, node: ast.stmt, block: Block) -> Use:
        return Use(self.scope, (self.scope.file.number, node.lineno, node.col_offset), block)


def _nodes(root: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression; `ast.walk` takes several times as long."""
    todo: list[ast.AST] = [root]
    while todo:
        node = todo.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                todo += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                todo.append(value)


def _bodies(node: ast.stmt) -> Iterator[tuple[Sequence[ast.stmt], bool]]:
    """The bodies of a compound statement, and whether they are branches: WITH and TRY run from their beginning."""
    if isinstance(node, ast.Try):
        yield node.body, False
        for handler in node.handlers:
            yield handler.body, True
        yield node.orelse, False
        yield node.finalbody, False
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield node.body, False
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield case.body, True
    elif isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While):
        yield node.body, True
        yield node.orelse, True
