"""All rules: each is a module of `lint/rules/`, found by its file name."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from merge_runner.lint import rules as package
from merge_runner.lint.rule import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, in the order of their codes."""
    found = [_rule(name) for _, name, _ in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    return tuple(sorted(found, key=lambda rule: rule.code))


def _rule(module_name: str) -> Rule:
    module: Any = importlib.import_module(module_name)
    stem = module_name.rpartition(".")[2]
    code, _, name = stem.partition("_")
    return Rule(
        code.upper(),
        name.replace("_", "-"),
        module.SEVERITY,
        module.__doc__,
        check_merge=getattr(module, "check_merge", None),
        check_file=getattr(module, "check_file", None),
        check_project=getattr(module, "check_project", None),
    )
