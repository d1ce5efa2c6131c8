"""What differs from the last runs."""

import pytest

from merge_runner.pages.runs.comparison import changes
from tests.pages.runs import node, record

USUAL = [record(node("a", 2.0)) for _ in range(4)]
FILES = {"verdict": "static", "verdict_held": True, "files_scanned": 5, "files_total": 100}


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        (node("a", 2.2), USUAL, []),
        (node("a", 4.0), USUAL, [("slower", "2.0 s", "4.0 s")]),
        (node("a", 4.0), USUAL[:2], []),  # what is usual is not known
        (node("a", 0.4), [record(node("a", 0.1)) for _ in range(4)], []),  # the noise of Spark
        (node("a", 9.0, "error"), USUAL, [("failed", "success", "error")]),
        (node("a", 9.0, "error"), [record(node("a", 1.0, "error"))], []),
        (node("a", 9.0, "partial success"), USUAL, [("failed", "success", "partial success")]),
        (node("a", 9.0, "error"), [record(node("a", 1.0, "partial success"))], []),
        (node("a"), [], []),
        (node("b", 9.0), USUAL, []),
        (
            node("a", 2.0, **FILES),
            [record(node("a", 2.0, **{**FILES, "verdict": "none"}))],
            [("verdict", "none", "static")],
        ),
        (
            node("a", 2.0, **{**FILES, "verdict_held": False}),
            [record(node("a", 2.0, **FILES))],
            [("verdict-broken", "static held", "the engine scanned otherwise")],
        ),
        (
            node("a", 2.0, **{**FILES, "verdict_held": False}),
            [record(node("a", 2.0, **{**FILES, "verdict_held": False}))],
            [],
        ),
        (
            node("a", 2.0, **FILES),
            [record(node("a", 2.0, **{**FILES, "files_total": 40}))],
            [("more-files", "40 files", "100 files")],
        ),
        (
            node("a", 2.0, **{**FILES, "files_scanned": 100}),
            [record(node("a", 2.0, **FILES))],
            [("wider-scan", "5 of 100 files", "100 of 100 files")],
        ),
        (
            node("a", 2.0, **{**FILES, "files_total": 4, "files_scanned": 4}),
            [record(node("a", 2.0, **{**FILES, "files_total": 1}))],
            [],
        ),
    ],
)
def test_changes(now, before, expected):
    assert [(each.kind, each.before, each.now) for each in changes(record(now), before)] == expected


def test_the_worst_comes_first():
    now = record(node("slow", 9.0), node("broken", 1.0, "fail"))
    before = [record(node("slow", 1.0), node("broken", 1.0)) for _ in range(3)]
    assert [each.name for each in changes(now, before)] == ["broken", "slow"]
