"""All rules: the modules of `lint/rules/`, and those of other packages, found by their file names.

Another package provides rules by the entry point group `merge_runner.rules`, whose values are modules or packages of
modules (docs/guides/custom-rules.md).
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields, replace
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problems
from merge_runner.lint import rules as package
from merge_runner.lint.finding import SEVERITIES
from merge_runner.lint.rule import Rule, RuleOptions
from merge_runner.store import package_files
from merge_runner.version import may_provide

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "merge_runner.rules"
"""The entry point group of rules in other packages."""

_FILE_NAME = re.compile(r"(?P<code>[a-z]+\d{3})_(?P<name>[a-z0-9_]+)")
_CHECKS = ("check_merge", "check_file", "check_project")


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules, in the order of their codes. Raises ProblemsError for a wrong rule of another package."""
    problems = Problems()
    provided = provided_rules(_entry_points(), problems)
    problems.check()
    return tuple(sorted((*built_in_rules(), *provided), key=lambda rule: rule.code))


def provided_rules(entries: Iterable[EntryPoint], problems: Problems) -> list[Rule]:
    """Return the rules of these entry points; what is wrong with them is added to the problems as `invalid-rule`."""
    by_code = {rule.code: rule for rule in built_in_rules()}
    for rule in (rule for entry in entries for rule in _load_rules(entry, problems)):
        other = by_code.setdefault(rule.code, rule)
        if other is not rule:
            owner = f"the package {other.package}" if other.package else "merge-runner"
            message = f"rule {rule.code} of the package {rule.package} has the code of a rule of {owner}"
            hint = "begin the code with letters that only the package uses, as ACME001"
            problems.add("invalid-rule", message, None, hint)
    return [rule for rule in by_code.values() if rule.package is not None]


def provided_paths() -> list[Path]:
    """Return the folders or files of the packages that provide rules, without importing them."""
    paths = []
    for entry in _entry_points():
        spec = find_spec(entry.value.partition(":")[0].partition(".")[0])
        if spec is not None:
            paths += [Path(path) for path in spec.submodule_search_locations or [spec.origin or ""]]
    return paths


def files_of_provided_rules() -> list[Any]:
    """Return the files of other packages with rules: name, size and time of each."""
    return [file for package in provided_paths() for file in package_files(package)]


@cache
def _entry_points() -> list[EntryPoint]:
    if not may_provide(GROUP):
        return []

    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """Return the rules of merge-runner, in the order of their codes."""
    return tuple(sorted(map(_rule, _modules(package)), key=lambda rule: rule.code))


def _modules(parent: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules of a package whose names begin with a rule's code; the module itself where it is no package."""
    if not hasattr(parent, "__path__"):
        yield parent
        return
    for _, name, _ in pkgutil.iter_modules(parent.__path__, f"{parent.__name__}."):
        if _FILE_NAME.fullmatch(name.rpartition(".")[2]):
            yield importlib.import_module(name)


def _rule(module: Any) -> Rule:
    code, _, name = module.__name__.rpartition(".")[2].partition("_")
    return Rule(
        code.upper(),
        name.replace("_", "-"),
        module.SEVERITY,
        module.__doc__,
        check_merge=getattr(module, "check_merge", None),
        check_file=getattr(module, "check_file", None),
        check_project=getattr(module, "check_project", None),
        options=getattr(module, "Options", None),
    )


def _load_rules(entry: EntryPoint, problems: Problems) -> Iterator[Rule]:
    """Yield the rules of an entry point of another package; what is wrong with it is added to the problems."""
    owner = entry.dist.name if entry.dist is not None else entry.value
    try:
        modules = list(_modules(entry.load()))
    except Exception as error:
        message = f"the rules of the package {owner} cannot be imported: {type(error).__name__}: {error}"
        problems.add("invalid-rule", message, None, f"mend or uninstall it: its entry point is {entry.value}")
        return
    if not modules:
        problems.add("invalid-rule", f"the package {owner} has no rules in {entry.value}", None, _NAMING)
    for module in modules:
        wrong = list(_faults(module))
        if wrong:
            message = f"{module.__name__} of the package {owner} is no rule: {wrong[0]}"
            problems.add("invalid-rule", message, None, _NAMING)
        else:
            yield replace(_rule(module), package=owner, url=str(getattr(module, "URL", "")))


_NAMING = "docs/guides/custom-rules.md shows a package with a rule"


def _faults(module: Any) -> Iterator[str]:
    """Yield what keeps a module from being a rule."""
    if not _FILE_NAME.fullmatch(module.__name__.rpartition(".")[2]):
        yield "its file name is not a code and a name, as acme001_no_star.py"
    if getattr(module, "SEVERITY", None) not in SEVERITIES:
        yield f"SEVERITY must be one of {', '.join(SEVERITIES)}"
    if not (module.__doc__ or "").strip():
        yield "it has no docstring, which is its documentation"
    checks = [check for check in _CHECKS if callable(getattr(module, check, None))]
    if not checks or (len(checks) > 1 and "check_project" in checks):
        yield f"it must define one of {', '.join(_CHECKS)}"
    options = getattr(module, "Options", None)
    if options is not None and not (_extends(options) and all(map(_has_default, fields(options)))):
        yield "Options must be a dataclass that extends RuleOptions and gives every option a default"


def _extends(options: Any) -> bool:
    return isinstance(options, type) and issubclass(options, RuleOptions) and "__dataclass_fields__" in vars(options)


def _has_default(option: Field[Any]) -> bool:
    return option.default is not MISSING or option.default_factory is not MISSING
