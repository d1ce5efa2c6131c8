"""A report because of which nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merge_runner.lint.finding import Finding
    from merge_runner.lint.report import Report


class LintError(Exception):
    """Lint found errors. `report` has all findings, `refused` those because of which nothing has run."""

    def __init__(self, report: Report, refused: Sequence[Finding]) -> None:
        self.report = report
        self.refused = tuple(refused)
        super().__init__("\n".join(f"{item.place}: {item.message} [{item.code}]" for item in refused))


def refuse_errors(report: Report, *, warnings: bool = False) -> None:
    """Raise LintError where the report has an error, or a warning if `warnings` count as errors."""
    severities = ("error", "warning") if warnings else ("error",)
    refused = [finding for finding in report.findings if finding.severity in severities]
    if refused:
        raise LintError(report, refused)
