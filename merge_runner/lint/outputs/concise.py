"""For tools that read lines: `path:line:col: CODE severity message`."""

from __future__ import annotations

from merge_runner.columns import one_line
from merge_runner.lint.outputs.statistics import table
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.outputs.summary import summary
from merge_runner.lint.report import Report


def render(report: Report, style: Style) -> str:
    """A line per finding and per model that was not judged as a whole, the counts if requested, the summary."""
    lines = [
        one_line(f"{finding.place}: {finding.code} {finding.severity} {finding.message}") for finding in report.findings
    ]
    lines += [
        one_line(f"{item.place}: not-judged warning {item.what} not judged: {item.reason}")
        for item in report.not_judged
    ]
    if style.statistics:
        lines += table(report, style)
    return "\n".join([*lines, summary(report)])
