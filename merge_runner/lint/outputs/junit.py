"""For CI servers: a suite per file, in which every finding is a test that failed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from merge_runner.lint.finding import Finding
from merge_runner.lint.outputs.excerpt import excerpt
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import Report

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, style: Style) -> str:
    """The XML document. A file without findings has one test, which passed."""
    files: dict[str, list[Finding]] = {merge.path: [] for merge in sorted(report.merges, key=lambda merge: merge.path)}
    for finding in report.findings:
        files.setdefault(finding.place.path, []).append(finding)
    count = sum(max(len(findings), 1) for findings in files.values())
    root = ET.Element("testsuites", _counts("merge-runner lint", count, len(report.findings)))
    for path, findings in files.items():
        suite = ET.SubElement(root, "testsuite", _counts(path, max(len(findings), 1), len(findings)))
        classname = _xml(str(PurePosixPath(path).with_suffix("")) if PurePosixPath(path).name else path)
        if not findings:
            ET.SubElement(suite, "testcase", {"name": "lint", "classname": classname})
        seen: Counter[str] = Counter()
        for finding in findings:
            seen[finding.code] += 1
            number = f" ({seen[finding.code]})" if seen[finding.code] > 1 else ""  # servers know a test by its name
            name = _xml(f"{finding.code} {finding.name}{number}")
            case = ET.SubElement(suite, "testcase", {"name": name, "classname": classname})
            message = {"type": finding.severity, "message": _xml(finding.message)}
            ET.SubElement(case, "failure", message).text = _xml(_details(finding, report))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _counts(name: str, tests: int, failures: int) -> dict[str, str]:
    return {"name": _xml(name), "tests": str(tests), "failures": str(failures), "errors": "0"}


def _details(finding: Finding, report: Report) -> str:
    lines = [f"{finding.place}: {finding.message}"]
    lines += excerpt(report.sources.get(finding.place.path, ""), finding.place, Style(unicode=False), "")
    lines += [f"help: {finding.hint.strip()}"] if finding.hint else []
    return "\n".join([*lines, finding.url])


def _xml(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("", text)
