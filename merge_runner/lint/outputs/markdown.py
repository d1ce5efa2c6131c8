"""For the summary of a job, a comment or a wiki: verdicts and findings as tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from merge_runner.lint.outputs.style import Style
from merge_runner.lint.outputs.summary import summary
from merge_runner.lint.report import Report
from merge_runner.markdown import cell, table

_ROWS = 50
_MARKS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}


def render(report: Report, _style: Style) -> str:
    """A heading with the summary, the findings, the verdicts; of many rows the first."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    mark = "❌" if report.count("error") else "⚠️" if report.findings or report.not_judged else "✅"
    yield f"### {mark} merge-runner lint: {cell(summary(report))}"
    if report.findings:
        yield ""
        rows = [
            (_MARKS[finding.severity], f"{finding.code} {finding.name}", finding.place, finding.message)
            for finding in report.findings
        ]
        yield from table(("", "rule", "place", "what"), rows[:_ROWS])
        yield from _more(len(rows))
    if report.not_judged:
        yield ""
        yield from table(
            ("not judged", "place", "why"), [(item.what, item.place, item.reason) for item in report.not_judged[:_ROWS]]
        )
        yield from _more(len(report.not_judged))
    if report.merges:
        yield ""
        verdicts = [(merge.verdict, merge.place, merge.target, merge.reason) for merge in report.merges]
        yield from table(("verdict", "merge", "target", "why"), verdicts[:_ROWS])
        yield from _more(len(verdicts))


def _more(count: int) -> Iterator[str]:
    if count > _ROWS:
        yield from ("", f"and {count - _ROWS} more")
