"""For GitHub Actions: workflow commands that annotate the lines of a pull request.

The syntax and its escapes: actions/toolkit, packages/core/src/command.ts. GitHub shows ten errors and ten warnings of
a step, so errors come first; and it refuses columns where a place covers more than one line.
"""

from __future__ import annotations

from merge_runner.columns import one_line, printable
from merge_runner.lint.finding import SEVERITIES, Finding, Severity
from merge_runner.lint.outputs.not_judged import groups
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.outputs.summary import summary
from merge_runner.lint.report import Report

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, style: Style) -> str:
    """A command per finding, one for what was not judged, and the summary as a plain line of the log."""
    findings = sorted(report.findings, key=lambda finding: SEVERITIES.index(finding.severity))
    # After the findings, in one annotation for all its models: they must not use up the ten warnings.
    warnings = (
        f"::warning title=not judged::{_data(_with_hint(group.message, group.hint))}" for group in groups(report)
    )
    return "\n".join([*(_command(finding) for finding in findings), *warnings, summary(report)])


def _command(finding: Finding) -> str:
    place = finding.place.in_file
    properties: dict[str, object] = {"file": place.path, "line": place.line}
    if place.end_line is None:
        properties["col"] = place.column
    elif place.end_line == place.line:
        properties |= {"endLine": place.end_line, "col": place.column, "endColumn": place.end_column}
    else:
        properties["endLine"] = place.end_line
    properties["title"] = f"{finding.code} {finding.name}"
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    # GitHub annotates lines of the file, which are not those of a notebook's cells.
    cell = f"{finding.place}: " if finding.place.cell is not None else ""
    message = _with_hint(one_line(cell + finding.message), finding.hint)
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(message)}"


def _with_hint(message: str, hint: str | None) -> str:
    return f"{message}\nhelp: {hint.strip()}" if hint else message


def _data(text: str) -> str:
    text = text.encode(errors="replace").decode()  # a file's name need not be UTF-8
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
