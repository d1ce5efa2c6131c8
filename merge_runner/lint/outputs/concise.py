"""For tools that read lines: `path:line:col: CODE severity message`."""

from __future__ import annotations

from merge_runner.columns import one_line
from merge_runner.lint.outputs.statistics import table
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.outputs.summary import summary
from merge_runner.lint.report import Report


def render(report: Report, style: Style) -> str:
    """A line per finding, the counts where they are asked for, and the summary."""
    lines = [
        one_line(f"{finding.place}: {finding.code} {finding.severity} {finding.message}") for finding in report.findings
    ]
    if style.statistics:
        lines += table(report, style)
    return "\n".join([*lines, summary(report)])
