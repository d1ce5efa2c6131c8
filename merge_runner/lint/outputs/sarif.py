"""For code scanning: SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from merge_runner.lint.documentation import sections, summary
from merge_runner.lint.finding import Finding, Fix, Severity
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.registry import rules
from merge_runner.lint.report import Report
from merge_runner.lint.rule import Rule
from merge_runner.text import Place
from merge_runner.version import version

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_ROOT = "%SRCROOT%"
_HOME = "https://github.com/merge-runner/merge-runner"


def render(report: Report, style: Style) -> str:
    """One run, with the rules that found something and the verdicts among its properties."""
    by_code = {rule.code: rule for rule in rules()}
    codes = sorted({finding.code for finding in report.findings})
    first = {finding.code: finding for finding in reversed(report.findings)}
    run = {
        "tool": {
            "driver": {
                "name": "merge-runner",
                "informationUri": _HOME,
                "semanticVersion": version(),
                "rules": [_rule(first[code], by_code.get(code)) for code in codes],
            }
        },
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The project's folder."}}},
        "columnKind": "unicodeCodePoints",
        "results": _results(report, codes),
        "properties": {"merges": [merge.as_json() for merge in report.merges]},
    }
    schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def _invocation(report: Report) -> dict[str, Any]:
    """The run, with a notification for each model that was not judged as a whole."""
    notifications = [
        {
            "level": "warning",
            "descriptor": {"id": "not-judged"},
            "message": {"text": "\nhelp: ".join(filter(None, (f"{item.what} not judged: {item.reason}", item.hint)))},
            "locations": [{"physicalLocation": _physical(item.place)}],
        }
        for item in report.not_judged
    ]
    return {"executionSuccessful": True} | ({"toolExecutionNotifications": notifications} if notifications else {})


def _rule(finding: Finding, rule: Rule | None) -> dict[str, Any]:
    """The descriptor of a finding's rule; its texts come from the rule's documentation, where there is one."""
    entry: dict[str, Any] = {"id": finding.code, "name": finding.name, "helpUri": finding.url}
    title = summary(rule) if rule else finding.name
    text = sections(rule).get("What it does", "") if rule else ""
    documentation = rule.documentation.strip() if rule else title
    entry["shortDescription"] = {"text": title}
    entry["fullDescription"] = {"text": " ".join(text.split()) or title}
    entry["help"] = {"text": documentation, "markdown": documentation}
    entry["defaultConfiguration"] = {"level": _LEVELS[rule.severity if rule else finding.severity]}
    entry["properties"] = {"tags": ["performance" if finding.code[:1] in "PK" else "correctness"]}
    return entry


def _results(report: Report, codes: Sequence[str]) -> list[dict[str, Any]]:
    seen: Counter[str] = Counter()
    results = []
    for finding in report.findings:
        seen[finding.key] += 1
        results.append(_result(finding, codes.index(finding.code), seen[finding.key]))
    return results


def _result(finding: Finding, index: int, occurrence: int) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _physical(finding.place)}
    if finding.model is not None:
        location["logicalLocations"] = [{"name": finding.model}]
    cell = finding.place.cell
    if cell is not None:
        location["logicalLocations"] = [{"name": f"cell {cell}", "kind": "cell"}]
    text = finding.message if cell is None else f"{finding.place}: {finding.message}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{text}\nhelp: {finding.hint.strip()}" if finding.hint else text},
        "locations": [location],
        "partialFingerprints": {"finding/v1": f"{finding.key}:{occurrence}"},
    }
    if finding.fix is not None and finding.fix.edits and cell is None:
        result["fixes"] = [_fix(finding.fix)]
    return result


def _fix(fix: Fix) -> dict[str, Any]:
    paths = dict.fromkeys(edit.place.path for edit in fix.edits)
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path),
                "replacements": [
                    {"deletedRegion": _edit_region(edit.place), "insertedContent": {"text": edit.content}}
                    for edit in fix.edits
                    if edit.place.path == path
                ],
            }
            for path in paths
        ],
        "properties": {"applicability": fix.applicability},
    }


def _artifact(path: str) -> dict[str, Any]:
    """A relative path counts from the root of the sources."""
    uri = quote(path, safe="/", errors="replace")
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _physical(place: Place) -> dict[str, Any]:
    return {"artifactLocation": _artifact(place.path), "region": _region(place.in_file)}


def _region(place: Place) -> dict[str, int]:
    """The region, whose end is exclusive as ours is; without one where it is not known."""
    region = {"startLine": place.line, "startColumn": place.column}
    if place.end_line is not None and place.end_column is not None:
        region |= {"endLine": place.end_line, "endColumn": place.end_column}
    return region


def _edit_region(place: Place) -> dict[str, int]:
    """The region of an edit: empty without an end."""
    return _region(place) | ({"endColumn": place.column} if place.end_line is None else {})
