"""For CI servers: a suite per file, in which every finding is a test that failed."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from merge_runner.lint.finding import Finding
from merge_runner.lint.outputs.excerpt import excerpt
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import JudgementGap, Report
from merge_runner.text import xml_text


def render(report: Report, style: Style) -> str:
    """The XML document. A file without findings has one test, which passed; what was not judged is skipped."""
    files: dict[str, list[Finding]] = {merge.path: [] for merge in sorted(report.merges, key=lambda merge: merge.path)}
    for finding in report.findings:
        files.setdefault(finding.place.path, []).append(finding)
    skipped: dict[str, list[JudgementGap]] = {}
    for item in report.not_judged:
        files.setdefault(item.place.path, [])
        skipped.setdefault(item.place.path, []).append(item)
    judged = {merge.path for merge in report.merges}
    passed = {path for path, findings in files.items() if not findings and (path in judged or path not in skipped)}
    count = len(report.findings) + len(passed) + len(report.not_judged)
    root = ET.Element("testsuites", _counts("merge-runner lint", count, len(report.findings)))
    for path, findings in files.items():
        left_out = skipped.get(path, [])
        tests = len(findings) + (path in passed) + len(left_out)
        suite = ET.SubElement(root, "testsuite", _counts(path, tests, len(findings), len(left_out)))
        classname = xml_text(str(PurePosixPath(path).with_suffix("")) if PurePosixPath(path).name else path)
        if path in passed:
            ET.SubElement(suite, "testcase", {"name": "lint", "classname": classname})
        for item in left_out:
            case = ET.SubElement(suite, "testcase", {"name": xml_text(item.what), "classname": classname})
            ET.SubElement(case, "skipped", {"message": xml_text(f"not judged: {item.reason}")})
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


def _counts(name: str, tests: int, failures: int, skipped: int = 0) -> dict[str, str]:
    counts = {"name": xml_text(name), "tests": str(tests), "failures": str(failures), "errors": "0"}
    return counts | ({"skipped": str(skipped)} if skipped else {})


def _details(finding: Finding, report: Report) -> str:
    lines = [f"{finding.place}: {finding.message}"]
    lines += excerpt(report.sources.get(finding.place.text_name, ""), finding.place, Style(unicode=False), "")
    lines += [f"help: {finding.hint.strip()}"] if finding.hint else []
    return "\n".join([*lines, finding.url])
