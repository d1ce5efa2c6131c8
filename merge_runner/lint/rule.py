"""What a rule is: a module of `lint/rules/` whose docstring is its documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
