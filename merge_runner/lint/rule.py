"""What a rule is: a module of `lint/rules/`, or of another package, whose docstring is its documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from merge_runner.lint.finding import Fix, Severity
from merge_runner.project.syntax.annotations import Keyed
from merge_runner.text import Place, Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile, LintedMerge, LintedProject


@dataclass(frozen=True)
class Hit:
    """What a rule's check gives: where, and what is wrong in a sentence without a full stop.

    `at` is a span of the rendered text, or a place in any file. `severity` None: the rule's own. `subject` is the text
    that it is about, where that is not the text at `at`. `model` is the model that a rule about the project means.
    `replaces` are the codes of rules that report the same cause in other words: this takes the place of their findings
    on the same MERGE, and has their severity where that is higher; `replaces_here` those that begin where this does.
    `variant` names a case of a rule, so that `replaces` can have it alone: `K002 star`.
    """

    at: Span | Place
    message: str
    hint: str | None = None
    severity: Severity | None = None
    fix: Fix | None = None
    subject: str | None = None
    model: str | None = None
    replaces: tuple[str, ...] = ()
    replaces_here: tuple[str, ...] = ()
    variant: str = ""


@dataclass(frozen=True)
class RuleOptions(Keyed):
    """The options of a rule: the fields of a subclass. Keys that it does not have are an error in the settings."""


Check: TypeAlias = Callable[..., Iterable[Hit]]


@dataclass(frozen=True)
class Rule:
    """A rule. Its checks: of a MERGE that parses, of any file, or both; or one of a whole project.

    `options` is the dataclass of its options, an instance of which is the second argument of its check; None: it has
    none. `package` is the distribution that provides it, `url` its page; None for merge-runner's own.
    """

    code: str
    name: str
    severity: Severity
    documentation: str
    check_merge: Check | None = None
    check_file: Check | None = None
    check_project: Check | None = None
    options: type[RuleOptions] | None = None
    package: str | None = None
    url: str | None = None

    def hits(
        self, check: Check, subject: LintedMerge | LintedFile | LintedProject, options: RuleOptions | None
    ) -> Iterable[Hit]:
        """Run a check of the rule on what it looks at; `options` is an instance of `options`, or None."""
        return check(subject) if self.options is None else check(subject, options)

    def ran_on(self, parsed: bool) -> bool:
        """Whether a rule about one file could say anything of it: `parsed` says that its MERGE could be read."""
        return parsed or self.check_merge is None or self.check_file is not None
