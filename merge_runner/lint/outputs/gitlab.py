"""For GitLab: a Code Quality report (docs.gitlab.com/ci/testing/code_quality, "Code Quality report format")."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from merge_runner.lint.finding import Finding, Severity
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import JudgementGap, Report
from merge_runner.text import Place

_SEVERITIES: dict[Severity, str] = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report, style: Style) -> str:
    """The report: an array of findings and of models that were not judged as a whole, empty where there are none."""
    seen: Counter[str] = Counter()
    issues = []
    for finding in report.findings:
        issues.append(_issue(finding, seen[finding.key]))
        seen[finding.key] += 1
    issues += [_not_judged(item) for item in report.not_judged]
    return json.dumps(issues, indent=2)


def _not_judged(item: JudgementGap) -> dict[str, Any]:
    """An issue of the lowest severity: the report has no other place for it."""
    place = item.place.in_file
    key = hashlib.sha256(f"not-judged\0{place.path}\0{item.model or item.place}\0{item.what}".encode(errors="replace"))
    return {
        "type": "issue",
        "check_name": "not-judged",
        "description": f"{_cell(item.place)}{item.what} not judged: {item.reason}",
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES["info"],
        "fingerprint": key.hexdigest()[:20],
        "location": {"path": place.path, "lines": {"begin": place.line, "end": place.end_line or place.line}},
    }


def _cell(place: Place) -> str:
    """The place in a cell of a notebook, whose lines are not those of the file."""
    return f"{place}: " if place.cell is not None else ""


def _issue(finding: Finding, ordinal: int) -> dict[str, Any]:
    place = finding.place.in_file
    end_line = place.end_line or place.line
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{_cell(finding.place)}{finding.name}: {finding.message}",
        "categories": ["Performance" if finding.code[:1] in "PK" else "Bug Risk"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint(finding, ordinal),
        "location": {
            "path": place.path,
            "lines": {"begin": place.line, "end": end_line},
            "positions": {
                "begin": {"line": place.line, "column": place.column},
                "end": {"line": end_line, "column": place.end_column or place.column},
            },
        },
    }


def fingerprint(finding: Finding, ordinal: int) -> str:
    """The finding's key; for the second and further ones with that key one of their own: GitLab shows each once."""
    if ordinal == 0:
        return finding.key
    return hashlib.sha256(f"{finding.key}\0{ordinal}".encode()).hexdigest()[:20]
