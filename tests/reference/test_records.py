"""The keys of adapter responses and the fields of events are those that the code writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from merge_runner.engine.metrics.adapter_response import GROUPS
from merge_runner.engine.metrics.merge_metrics import SHORT_NAMES
from merge_runner.reference.record_pages import STATUS, recorded
from merge_runner.run.results.event_fields import EVENTS
from merge_runner.run.results.results import Status

PACKAGE = Path(__file__).parents[2] / "merge_runner"
MODULES = {
    file.relative_to(PACKAGE).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
    for file in sorted(PACKAGE.rglob("*.py"))
}
RETURNED = (
    *("merge_response", "delta_response", "iceberg_response", "failing_rows"),
    *("_optimize", "delta_optimize", "iceberg_optimize"),
)
"""Functions whose result becomes a response, or a part of one."""


def test_the_keys_of_responses_are_those_that_are_written():
    documented = [each.name for kind in GROUPS for each in recorded(kind)]
    assert len(documented) == len(set(documented))
    written = set(SHORT_NAMES) | {key for tree in MODULES.values() for key in _written(tree)}
    assert sorted(written - set(documented)) == [], "describe them in merge_runner/engine/metrics/adapter_response.py"
    assert sorted(set(documented) - written) == [], "nothing writes these any longer"


def _written(tree: ast.Module) -> Iterator[str]:
    """Constant keys that a module writes into a response."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in _targets(node):
                if _is_response(target):
                    yield from _dict_keys(node.value)
                elif isinstance(target, ast.Subscript) and _is_response(target.value):
                    yield from _constants(target.slice)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            if _is_response(node.target) and node.value is not None:
                yield from _dict_keys(node.value)
        elif isinstance(node, ast.FunctionDef) and node.name in RETURNED:
            for each in ast.walk(node):
                if isinstance(each, ast.Return) and isinstance(each.value, ast.Dict):
                    yield from _dict_keys(each.value)
        elif isinstance(node, ast.keyword) and node.arg == "adapter_response":
            yield from _dict_keys(node.value)


def _targets(node: ast.Assign) -> Iterator[ast.expr]:
    for target in node.targets:
        yield from target.elts if isinstance(target, ast.Tuple) else (target,)


def _is_response(value: ast.expr) -> bool:
    return isinstance(value, ast.Name | ast.Attribute) and ast.unparse(value).rpartition(".")[2] == "response"


def _dict_keys(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Dict):
        for key in value.keys:
            if key is not None:
                yield from _constants(key)


def _constants(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Constant):
        yield str(value.value)


def test_the_fields_of_events_are_those_that_are_emitted():
    emitted: dict[str, set[str]] = {}
    for tree in MODULES.values():
        for call in _calls(tree, "emit"):
            if not isinstance(call.args[0], ast.Constant):
                continue  # Events.emit itself passes the name on
            fields = emitted.setdefault(str(call.args[0].value), set())
            for keyword in call.keywords:
                fields |= {keyword.arg} if keyword.arg is not None else set(_spread(keyword.value, tree))
    documented = {name: {each.name for each in recorded(kind)} for name, kind in EVENTS.items()}
    assert emitted == documented, "describe them in merge_runner/run/results/event_fields.py"


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name:
            yield node


def _spread(value: ast.expr, tree: ast.Module) -> Iterator[str]:
    """The keys of `**value`: those of the dict that a function returns, or the keywords that calls of this one give."""
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func).rpartition(".")[2]
        found = [
            node
            for each in MODULES.values()
            for node in ast.walk(each)
            if isinstance(node, ast.FunctionDef) and node.name == name
        ]
        assert found, f"there is no function {name}"
        for function in found:
            for each in ast.walk(function):
                if isinstance(each, ast.Return) and each.value is not None:
                    yield from _dict_keys(each.value)
    else:
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.kwarg]
        function = next(each for each in functions if each.args.kwarg.arg == ast.unparse(value))
        for call in _calls(tree, function.name):
            yield from (keyword.arg for keyword in call.keywords if keyword.arg is not None)


def test_every_status_is_described():
    assert set(STATUS) == set(get_args(Status))
