"""No module decides by the name of a table format: it asks capabilities, or a lookup dispatches."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from merge_runner.formats.registry import FORMATS

ROOT = Path(__file__).parents[1]
MODULES = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "merge_runner").rglob("*.py"))}
MENTIONS = re.compile("|".join((*FORMATS, r"merge_runner\.formats")), re.IGNORECASE)
"""What the text of a module has that names a format, or imports a constant that does."""

DECIDING = (
    "merge_runner/engine/table_format/delta",
    "merge_runner/engine/table_format/iceberg",
    "merge_runner/formats/delta",
    "merge_runner/formats/iceberg",
    "merge_runner/lint/dbt",
    "merge_runner/project/schema",
    "merge_runner/pruning/skipping/delta.py",
    "merge_runner/pruning/skipping/iceberg.py",
)
"""The formats' own modules, and what parses config: of a project, or of another tool."""
NAMING = (
    *DECIDING,
    "merge_runner/api/set_up.py",
    "merge_runner/engine/spark/confs.py",
    "merge_runner/engine/table_format/registry.py",
    "merge_runner/formats",
)
"""Where a format may be named: also in tables of facts, and for its jars and Spark extension."""


@cache
def tree(name: str) -> ast.Module:
    """Return the syntax of a module; nothing for one that mentions no format."""
    text = MODULES[name].read_text(encoding="utf-8")
    return ast.parse(text if MENTIONS.search(text) else "")


def named(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield each literal that is the name of a format, in any case."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.lower() in FORMATS:
            yield each


def is_a_name_or_more(value: ast.AST | None) -> bool:
    """Return whether a value is the name of a format, a list of them, or the capabilities of one."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in ("Capabilities", "frozenset", "tuple", "set")
    return isinstance(value, ast.Constant | ast.Tuple | ast.List | ast.Set)


def constants(tree: ast.Module) -> frozenset[str]:
    """Return the constants of a module that hold the name of a format, or more of it: its own, and imported ones."""
    found = {"DEFAULT", "DELTA", "ICEBERG", "FORMATS"} & {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("merge_runner.formats")
        for alias in node.names
    }
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is not None and is_a_name_or_more(value) and any(named(value)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


def decisions(tree: ast.Module) -> Iterator[int]:
    """Yield the line of each place that decides by the name of a format.

    These are comparisons (`==`, `in`, `is`), cases of `match`, conditional expressions, `and`, `or`, and lookups in a
    mapping that is written in place.
    """
    holding = constants(tree)

    def names_a_format(node: ast.AST) -> bool:
        held = (each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in holding)
        return any(named(node)) or any(held)

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            decides = any(map(names_a_format, (node.left, *node.comparators)))
        elif isinstance(node, ast.match_case):
            decides = names_a_format(node.pattern)
        elif isinstance(node, ast.IfExp | ast.BoolOp):
            decides = any(named(node))
        elif isinstance(node, ast.Subscript):
            decides = isinstance(node.value, ast.Dict) and any(named(node.value))
        elif isinstance(node, ast.Call):
            inline = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Dict | ast.Set)
            decides = inline and any(named(node.func))
        else:
            continue
        if decides:
            yield node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno


@pytest.mark.parametrize(
    "text",
    [
        "x == 'delta'",
        "'Iceberg' != x",
        "x.format in ('delta', 'hudi')",
        "x in frozenset({'delta'})",
        "ONE = 'delta'\nx == ONE",
        "ALL: tuple[str, ...] = ('delta', 'iceberg')\nx in ALL",
        "from merge_runner.formats.registry import FORMATS\nx in FORMATS",
        "from merge_runner.formats.iceberg.capabilities import ICEBERG\nx is ICEBERG",
        "from merge_runner.formats import DEFAULT\nx != DEFAULT",
        "'a' if x else 'delta'",
        "f('iceberg') if x else f('delta')",
        "x or 'delta'",
        "{'delta': f, 'iceberg': g}[x]",
        "{'delta': f, 'iceberg': g}.get(x)",
        "match x:\n    case 'delta' | 'other':\n        f()",
        "while not (y := f(x)) == 'iceberg': pass",
    ],
)
def test_a_decision_is_found(text):
    assert list(decisions(ast.parse(text)))


@pytest.mark.parametrize(
    "text", ["x = 'a delta table'", "f('delta')", "T = {'delta': 1}", "capabilities(x).has_branches"]
)
def test_what_is_no_decision(text):
    assert not list(decisions(ast.parse(text)))


def test_no_module_decides_by_the_name_of_a_format():
    others = (name for name in MODULES if not name.startswith(DECIDING))
    assert [f"{name}:{line}" for name in others for line in decisions(tree(name))] == []


def test_no_module_names_a_format():
    others = (name for name in MODULES if not name.startswith(NAMING))
    assert [f"{name}:{literal.lineno}" for name in others for literal in named(tree(name))] == []


@pytest.mark.parametrize("prefix", NAMING)
def test_what_is_listed_is_there_and_needs_to_be(prefix):
    assert any(any(named(tree(name))) for name in MODULES if name.startswith(prefix))
