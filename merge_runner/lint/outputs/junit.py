"""For CI servers: a suite per file, in which every finding is a test that failed."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from merge_runner.lint.finding import Finding
from merge_runner.lint.outputs.excerpt import excerpt
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import Report
from merge_runner.text import xml_text


def render(report: Report, style: Style) -> str:
    """The XML document. A file without findings has one test, which passed."""
    files: dict[str, list[Finding]] = {merge.path: [] for merge in sorted(report.merges, key=lambda merge: merge.path)}
    for finding in report.findings:
        files.setdefault(finding.place.path, []).append(finding)
    count = sum(max(len(findings), 1) for findings in files.values())
    root = ET.Element("testsuites", _counts("merge-runner lint", count, len(report.findings)))
    for path, findings in files.items():
        suite = ET.SubElement(root, "testsuite", _counts(path, max(len(findings), 1), len(findings)))
        classname = xml_text(str(PurePosixPath(path).with_suffix("")) if PurePosixPath(path).name else path)
        if not findings:
            ET.SubElement(suite, "testcase", {"name": "lint", "classname": classname})
        seen: Counter[str] = Counter()
        for finding in findings:
            seen[finding.code] += 1
            number = f" ({seen[finding.code]})" if seen[finding.code] > 1 else ""  # servers know a test by its name
            name = xml_text(f"{finding.code} {finding.name}{number}")
            case = ET.SubElement(suite, "testcase", {"name": name, "classname": classname})
            message = {"type": finding.severity, "message": xml_text(finding.message)}
            ET.SubElement(case, "failure", message).text = xml_text(_details(finding, report))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _counts(name: str, tests: int, failures: int) -> dict[str, str]:
    return {"name": xml_text(name), "tests": str(tests), "failures": str(failures), "errors": "0"}


def _details(finding: Finding, report: Report) -> str:
    lines = [f"{finding.place}: {finding.message}"]
    lines += excerpt(report.sources.get(finding.place.path, ""), finding.place, Style(unicode=False), "")
    lines += [f"help: {finding.hint.strip()}"] if finding.hint else []
    return "\n".join([*lines, finding.url])
