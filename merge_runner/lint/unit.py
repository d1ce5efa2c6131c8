"""A text to lint, of a model, hook, script, notebook, code or dbt: from its parse to the findings of the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from merge_runner.lint.check import CheckResult, check_file, linted_merge
from merge_runner.lint.context import LintedFile, LintedMerge
from merge_runner.lint.finding import Finding
from merge_runner.lint.report import JudgementGap
from merge_runner.lint.selection import RuleSelection
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.query_span import no_query
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.query.source import Lookup
from merge_runner.pruning.query.target_view import target_layout
from merge_runner.template.outcome import ASKS_ENGINE
from merge_runner.text import Place

Adaptation = Callable[[Finding, LintedMerge | None], Finding]


def as_it_is(finding: Finding, merge: LintedMerge | None) -> Finding:
    """Return a finding as the rule made it."""
    return finding


def without_fix(finding: Finding, merge: LintedMerge | None) -> Finding:
    """Return a finding without its fix: the author's file has no place in which it could be made."""
    return replace(finding, fix=None)


@dataclass(frozen=True)
class LintUnit:
    """A text with the way back to its author's file, and what is known of the tables that it names."""

    file: LintedFile
    lookup: Lookup
    target: Callable[[], TableLayout] | None = None
    """Gives the layout of the table that a model is; None: it is that of the table which MERGE INTO names."""
    adapt: Adaptation = as_it_is
    """Makes of a finding of a rule what its author reads."""

    def parsed(self) -> LintedFile:
        """Return the file with the MERGE in its text, or with what is wrong with that."""
        file = self.file
        if file.rendered is None or file.statement is not None or file.error is not None:
            return file
        text = file.rendered.text
        try:
            return replace(file, statement=parse(text)) if file.is_merge else replace(file, error=no_query(text))
        except MergeSyntaxError as error:
            return replace(file, error=error)

    def merge(self) -> LintedMerge | None:
        """Return its MERGE with everything that is known of it; None where none parses."""
        return self._merge(self.parsed())

    def check(self, selection: RuleSelection) -> CheckResult:
        """Look at it with every rule."""
        if any(problem.code == ASKS_ENGINE for problem in self.file.problems):
            return _not_judged(self.file)
        file = self.parsed()
        merge = self._merge(file)
        result = check_file(file, merge, selection)
        findings = tuple(self.adapt(finding, merge) for finding in result.findings)
        if merge is not None:
            merge.scope.forget()
        return replace(result, findings=findings)

    def _merge(self, file: LintedFile) -> LintedMerge | None:
        statement = file.statement
        if statement is None:
            return None
        layout = target_layout(statement.target.parts, self.lookup) if self.target is None else self.target()
        return linted_merge(file, statement, layout, self.lookup)


def _not_judged(file: LintedFile) -> CheckResult:
    """The outcome for a text that depends on what a query returns: with what it would be, nothing is said of it."""
    if not file.is_merge:
        return CheckResult(())
    first = next(problem for problem in file.problems if problem.code == ASKS_ENGINE)
    place = first.place or Place(file.path, 1, 1)
    return CheckResult((), not_judged=(JudgementGap(file.name, place, (), first.message, first.hint, "model"),))
