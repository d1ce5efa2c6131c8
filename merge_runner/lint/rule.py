"""What a rule is: a module of `lint/rules/` whose docstring is its documentation."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from merge_runner.lint.finding import Fix, Severity
from merge_runner.text import Place, Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile, LintedMerge, LintedProject


@dataclass(frozen=True)
class Hit:
    """What a rule's check gives: where, and what is wrong in a sentence without a full stop.

    `at` is a span of the rendered text, or a place in any file. `severity` None: the rule's own. `subject` is the text
    that it is about, where that is not the text at `at`.
    """

    at: Span | Place
    message: str
    hint: str | None = None
    severity: Severity | None = None
    fix: Fix | None = None
    subject: str | None = None


@dataclass(frozen=True)
class Rule:
    """A rule. Exactly one of the checks is there: of a MERGE that parses, of any model's file, of a whole project."""

    code: str
    name: str
    severity: Severity
    documentation: str
    check_merge: Callable[[LintedMerge], Iterable[Hit]] | None = None
    check_file: Callable[[LintedFile], Iterable[Hit]] | None = None
    check_project: Callable[[LintedProject], Iterable[Hit]] | None = None

    def ran_on(self, parsed: bool) -> bool:
        """Whether a rule about one file could say anything of it: `parsed` says that its MERGE could be read."""
        return parsed or self.check_merge is None


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, in the order of their codes."""
    from merge_runner.lint import rules as package

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
