"""Whatever stands in a message, a path or a file, the formats stay what they are and give it back."""

import json
import re
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st

from merge_runner.columns import one_line, printable
from merge_runner.lint.finding import Edit, Finding, Fix
from merge_runner.lint.outputs import FORMATS, render
from merge_runner.lint.report import Report, ReportedConjunct, ReportedMerge
from merge_runner.text import SourceText

texts = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\0\x1b\r\n\t:,%<>&\"'{}|]\ufffe\ud800\u2028")),
    max_size=12,
)
some = texts.filter(str.strip)


@st.composite
def reports(draw):
    path, source = draw(some), draw(texts)
    at = SourceText(path, source).place(draw(st.integers(0, 12)), draw(st.none() | st.integers(0, 12)))
    fix = draw(st.none() | st.builds(lambda message, content: Fix(message, (Edit(at, content),)), texts, texts))
    finding = Finding("P001", "unbounded-target", "error", draw(some), at, draw(texts), draw(texts), fix, draw(texts))
    conjunct = ReportedConjunct(draw(texts), None, draw(texts), 1, 1)
    merge = ReportedMerge(draw(texts), path, draw(texts), None, "none", draw(texts), "general", False, (), (conjunct,))
    return Report((merge,), (finding, finding), 1, 0, {path: source})


@given(reports(), st.sampled_from(FORMATS))
def test_every_format_takes_any_text(report, format):
    text = render(report, format, statistics=True, verbose=True, width=40)
    assert text
    if format in {"json", "gitlab", "sarif"}:
        assert text.isascii()
    if format in {"text", "concise"}:
        assert not re.search(r"[\0-\x09\x0b-\x1f\x7f-\x9f]", text)


@given(reports())
def test_json(report):
    assert json.loads(render(report, "json")) == report.as_json()


@given(reports())
def test_gitlab(report):
    finding = report.findings[0]
    first, second = json.loads(render(report, "gitlab"))
    assert first["description"] == f"{finding.name}: {finding.message}"
    assert first["location"]["path"] == finding.place.path
    assert first["fingerprint"] != second["fingerprint"]


@given(reports())
def test_sarif(report):
    finding = report.findings[0]
    (run,) = json.loads(render(report, "sarif"))["runs"]
    first, second = run["results"]
    uri = first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri).removeprefix("file://") == finding.place.path.replace("\ud800", "?")
    assert re.fullmatch(r"[A-Za-z0-9_.~/%:-]*", uri)
    assert first["message"]["text"].startswith(finding.message)
    assert first["partialFingerprints"] != second["partialFingerprints"]


@given(reports())
def test_concise_is_a_line_per_finding(report):
    first, _, summary = render(report, "concise").split("\n")
    assert first == one_line(f"{report.findings[0].place}: P001 error {report.findings[0].message}")
    assert summary == "1 merge: 1 none; 2 errors, 0 warnings"


@given(reports())
@example(Report(findings=(Finding("P001", "n", "error", "100%\r\n::x::", SourceText("a,b:c%", "").place(0)),)))
def test_github(report):
    """Read as the runner reads it: the first `::` behind the properties ends them, `,` and `=` part them."""
    finding = report.findings[0]
    command = render(report, "github").split("\n")[0]
    _, head, message = command.split("::", 2)
    name, _, listed = head.partition(" ")
    properties = dict(item.split("=", 1) for item in listed.split(","))
    assert name == "error"
    assert unquoted(properties["file"]) == shown(finding.place.path.replace("\ud800", "?"))
    assert int(properties["line"]) == finding.place.line
    assert unquoted(properties["title"]) == shown(f"{finding.code} {finding.name}")
    assert unquoted(message).startswith(shown(one_line(finding.message)))
    assert "\r" not in command


def shown(text: str) -> str:
    """What of a text a log may get; the ends of its lines are quoted, and stay."""
    return unquoted(printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")))


def unquoted(text: str) -> str:
    for code, character in {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}.items():
        text = text.replace(code, character)
    return text


@given(reports())
def test_junit(report):
    finding = report.findings[0]
    root = ET.fromstring(render(report, "junit").encode("utf-8"))
    first, second = root.iter("testcase")
    message = "".join(
        character for character in finding.message if character in "\t\n\r" or (character >= " " and character not in "\ud800\ufffe\uffff")
    )  # fmt: skip
    assert first.find("failure").get("message") == message
    assert first.get("name") != second.get("name")
