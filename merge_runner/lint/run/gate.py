"""The check between lint and a build: a MERGE with an error does not run."""

from __future__ import annotations

from merge_runner.lint.report import Report


class LintError(Exception):
    """Lint found errors. `report` has all findings."""

    def __init__(self, report: Report) -> None:
        self.report = report
        errors = [finding for finding in report.findings if finding.severity == "error"]
        super().__init__("\n".join(f"{item.place}: {item.message} [{item.code}]" for item in errors))


def check(report: Report) -> None:
    """Raises LintError where the report has an error."""
    if report.count("error"):
        raise LintError(report)
