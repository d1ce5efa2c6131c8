"""How many findings each rule has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from merge_runner.lint.finding import Severity
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import Report

COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "info": "cyan"}
"""The colour of each severity."""


@dataclass(frozen=True)
class Count:
    """The findings of one rule that have one severity."""

    code: str
    name: str
    severity: Severity
    count: int

    def as_json(self) -> dict[str, Any]:
        """The entry of `statistics` in the JSON output."""
        return asdict(self)


def statistics(report: Report) -> tuple[Count, ...]:
    """The counts of the rules that found something, the largest first."""
    counts = Counter((finding.code, finding.name, finding.severity) for finding in report.findings)
    results = [Count(code, name, severity, count) for (code, name, severity), count in counts.items()]
    return tuple(sorted(results, key=lambda item: (-item.count, item.code, item.severity)))


def table(report: Report, style: Style) -> Iterator[str]:
    """The counts as lines."""
    counts = statistics(report)
    if not counts:
        return
    digits = len(str(counts[0].count))
    name = max(len(item.name) for item in counts)
    for item in counts:
        severity = style.styled(item.severity, fg=COLOURS[item.severity])
        yield f"{item.count:>{digits}}  {style.styled(item.code, bold=True)}  {item.name:<{name}}  {severity}"
