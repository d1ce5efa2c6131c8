"""Which error codes the code can give to a user: read from its syntax, so that no code is missed.

A code is what a call gives to a parameter or field named `code` (of `Problem`, `EngineError`, `Problems.add` and all that
pass one on). An expression that this module cannot reduce to texts is an error: a code has to be findable by a search.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "merge_runner"
OF_RULES = ("lint", "reference")
"""Packages where other things have codes: rules of lint."""
NOT_OF_ERRORS = ("__init__", "CompiledTemplate", "CompiledText", "_names")
"""What has another kind of `code`: of Python or of Jinja. (A constructor counts by its class.)"""
OF_OTHERS = ("engine_error", "_show_refused")
"""Functions whose codes are those of Spark, Delta and Iceberg, and those of lint rules."""


@dataclass
class Module:
    """A module, its texts at the top level, and from where it imports others."""

    path: str
    tree: ast.Module
    texts: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)


@dataclass
class Codes:
    """Each code with the places that use it, and the places whose codes cannot be found out."""

    found: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    unclear: list[str] = field(default_factory=list)


def raised_codes(package: Path = PACKAGE) -> Codes:
    """Return the codes of all modules of a package."""
    modules = [
        Module(file.relative_to(package).as_posix(), ast.parse(file.read_text(encoding="utf-8")))
        for file in sorted(package.rglob("*.py"))
    ]
    constants: dict[str, list[ast.expr]] = defaultdict(list)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                path = node.module.removeprefix("merge_runner.").replace(".", "/") + ".py"
                module.imports |= {each.asname or each.name: path for each in node.names}
        for name, value in _assigned(module.tree.body):
            module.texts[name] = value
            constants[name].append(value)
    carriers = _carriers(modules)
    codes = Codes()
    for module in modules:
        for function, call in _calls(module.tree):
            given = _given(call, module, carriers)
            for text in _texts(given, function, module, constants) if given is not None else ():
                place = f"{module.path}:{call.lineno}"
                if text is not None:
                    codes.found[text].append(place)
                elif function is None or function.name not in OF_OTHERS:
                    codes.unclear.append(f"{place}: {ast.unparse(given)}")
    return codes


def _given(call: ast.Call, module: Module, carriers: dict[tuple[str, str], int]) -> ast.expr | None:
    """The expression of the code that a call gives; None for a call that gives none."""
    if isinstance(call.func, ast.Attribute):
        name = call.func.attr
        if name == "add":  # of Problems or of a rendering, and not of a set: it gives a code and a message
            owner = ast.unparse(call.func).lower()
            named = "problems" in owner or "rendering" in owner
            of_problems = len(call.args) + len(call.keywords) >= 2 and named
            return _argument(call, 0) if of_problems else None
        position = carriers.get((module.path, name))
    elif isinstance(call.func, ast.Name):
        name = call.func.id
        if name == "say":
            return _keyword(call)
        position = carriers.get((module.imports.get(name, module.path), name))
    else:
        return None
    return _argument(call, position) if position is not None else None


def _carriers(modules: list[Module]) -> dict[tuple[str, str], int]:
    """The position of the parameter or field `code` by the module and name of a function or class."""
    found: dict[tuple[str, str], int] = {}
    for module in modules:
        for node in ast.walk(module.tree) if not module.path.startswith(OF_RULES) else ():
            names = _parameters(node)
            if "code" in names and node.name not in NOT_OF_ERRORS:
                found[module.path, node.name] = names.index("code")
    return found


def _parameters(node: ast.AST) -> list[str]:
    """The parameters of a function, or those that make an instance of a class."""
    if isinstance(node, ast.FunctionDef):
        return [each.arg for each in node.args.args if each.arg not in ("self", "cls")]
    if not isinstance(node, ast.ClassDef):
        return []
    made = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if made is not None:
        return _parameters(made)
    annotated = (each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name))
    return [each.target.id for each in annotated if "ClassVar" not in ast.unparse(each.annotation)]


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for each in body:
        if isinstance(each, ast.Assign):
            for target in each.targets:
                if isinstance(target, ast.Name):
                    yield target.id, each.value
                elif isinstance(target, ast.Tuple) and isinstance(each.value, ast.Tuple):
                    yield from (
                        (name.id, value)
                        for name, value in zip(target.elts, each.value.elts, strict=True)
                        if isinstance(name, ast.Name)
                    )
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
            yield each.target.id, each.value


def _calls(tree: ast.AST) -> Iterator[tuple[ast.FunctionDef | None, ast.Call]]:
    """All calls, each with the function in which it is written."""
    left: list[tuple[ast.AST, ast.FunctionDef | None]] = [(tree, None)]
    while left:
        node, function = left.pop()
        if isinstance(node, ast.Call):
            yield function, node
        inner = node if isinstance(node, ast.FunctionDef) else function
        left += [(child, inner) for child in ast.iter_child_nodes(node)]


def _argument(call: ast.Call, position: int) -> ast.expr | None:
    if len(call.args) > position and not any(isinstance(each, ast.Starred) for each in call.args[: position + 1]):
        return call.args[position]
    return _keyword(call)


def _keyword(call: ast.Call) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == "code"), None)


def _of_problems(call: ast.Call) -> bool:
    """Whether a call of `add` is that of `Problems`: it gives a code and a message."""
    return len(call.args) + len(call.keywords) >= 2 and "problems" in ast.unparse(call.func).lower()


def _texts(
    value: ast.expr, function: ast.FunctionDef | None, module: Module, constants: dict[str, list[ast.expr]]
) -> Iterator[str | None]:
    """The texts that an expression can be; None for one that cannot be found out, nothing for a code passed on."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from _texts(value.body, function, module, constants)
        yield from _texts(value.orelse, function, module, constants)
    elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Dict):
        for each in value.value.values:
            yield from _texts(each, function, module, constants)
    elif isinstance(value, ast.Attribute) and value.attr == "code":
        return
    elif isinstance(value, ast.Name):
        if function is not None and value.id in {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}:
            if value.id != "code":
                yield None
            return
        local = [each for name, each in _assigned(_statements(function)) if name == value.id]
        known = local or ([module.texts[value.id]] if value.id in module.texts else constants.get(value.id, []))
        if not known:
            yield None
        for each in known:
            yield from _texts(each, function, module, constants)
    else:
        yield None


def _statements(function: ast.FunctionDef | None) -> list[ast.stmt]:
    return [each for each in ast.walk(function) if isinstance(each, ast.stmt)] if function is not None else []
