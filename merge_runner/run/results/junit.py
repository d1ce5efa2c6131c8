"""The results of an invocation for CI servers: a suite for each file, a test case for each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from merge_runner.graph.graph import Node, UnitTestNode
from merge_runner.run.results.results import Result, RunResults
from merge_runner.text import xml_text

_ELEMENTS = {"fail": "failure", "error": "error", "partial success": "error", "skipped": "skipped"}
"""The element of a status other than success; a warning is the output of a case that passed."""


def junit(run: RunResults, nodes: Mapping[str, Node]) -> str:
    """The XML document: models and tests alike are cases, since either may be what failed."""
    files: dict[str, list[Result]] = {}
    for result in run.results:
        files.setdefault(nodes[result.unique_id].path, []).append(result)
    root = ET.Element("testsuites", _counts(f"merge-runner {run.command}", run.results))
    for path, results in sorted(files.items()):
        suite = ET.SubElement(root, "testsuite", _counts(path, results))
        for result in results:
            _add(suite, nodes[result.unique_id], result)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add(suite: ET.Element, node: Node, result: Result) -> None:
    tested = f"{node.unit_test.model}." if isinstance(node, UnitTestNode) else ""
    attributes = {
        "name": xml_text(f"{tested}{node.name}"),
        "classname": xml_text(str(PurePosixPath(node.path).with_suffix(""))),
        "time": f"{result.execution_time:.3f}",
    }
    case = ET.SubElement(suite, "testcase", attributes)
    message = xml_text(result.message or "")
    element = _ELEMENTS.get(result.status)
    if element is not None:
        first = message.partition("\n")[0]
        ET.SubElement(case, element, {"type": result.status, "message": first}).text = message
    elif result.status == "warn" or result.warnings:
        ET.SubElement(case, "system-out").text = xml_text("\n".join(filter(None, (message, *result.warnings))))


def _counts(name: str, results: Sequence[Result]) -> dict[str, str]:
    statuses = [result.status for result in results]
    return {
        "name": xml_text(name),
        "tests": str(len(results)),
        "failures": str(statuses.count("fail")),
        "errors": str(sum(_ELEMENTS.get(status) == "error" for status in statuses)),
        "skipped": str(statuses.count("skipped")),
        "time": f"{sum(result.execution_time for result in results):.3f}",
    }
