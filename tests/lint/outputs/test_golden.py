import json

import pytest

from merge_runner.lint.outputs import FORMATS, render, sarif
from merge_runner.lint.rule import Rule

from .golden import HERE, NAMES, document, report

RULES = (
    Rule("P001", "unbounded-target", "error", "The whole target is scanned.\n\n## What it does\nSays that\nit is.\n\n## Bad\n…\n"),
    Rule("P003", "filter-in-when", "warning", "A filter in WHEN does not prune.\n"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def rules(monkeypatch):
    monkeypatch.setattr(sarif, "rules", lambda: RULES)
    monkeypatch.setattr(sarif, "version", lambda: "1.2.3")


@pytest.mark.parametrize(("name", "output"), [(name, output) for name in NAMES for output in document(name)["outputs"]])
def test_output(name, output):
    expected = (HERE / "expected" / f"{name}.{output}").read_text(encoding="utf-8")
    assert render(report(name), **document(name)["outputs"][output]) == expected.removesuffix("\n")


def test_every_expected_file_belongs_to_an_output():
    assert {path.name for path in (HERE / "expected").iterdir()} == {
        f"{name}.{output}" for name in NAMES for output in document(name)["outputs"]
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("format", FORMATS)
def test_colours_change_nothing_but_the_colour(name, format):
    calls = []

    def colour(text, **style):
        calls.append(style)
        return f"\x1b[7m{text}\x1b[0m"

    coloured = render(report(name), format, colour=colour, statistics=True)
    assert coloured.replace("\x1b[7m", "").replace("\x1b[0m", "") == render(report(name), format, statistics=True)
    assert bool(calls) == (format == "text" or (format == "concise" and bool(report(name).findings)))


def test_another_format_is_refused():
    with pytest.raises(ValueError, match="yaml"):
        render(report("clean"), "yaml")


def test_errors_come_first_where_only_ten_are_shown():
    commands = [line.partition(" ")[0] for line in render(report("one_block"), "github").splitlines()[:-1]]
    assert commands == ["::error"] * 3 + ["::warning"] * 3 + ["::notice"]


def test_fingerprints_are_unique_and_do_not_know_lines():
    found = [issue["fingerprint"] for issue in json.loads(render(report("one_block"), "gitlab"))]
    assert len(set(found)) == len(found)
    assert found[3] == report("one_block").findings[3].key
