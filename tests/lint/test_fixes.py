"""Fixes put into a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.lint.finding import Edit, Fix
from merge_runner.lint.fixes import apply
from merge_runner.text import Place, SourceText

SOURCE = SourceText("m.sql", "merge into t\nusing s\non true\n")


def fix(*edits, applicability="safe", path="m.sql"):
    """A fix of edits (start, end, content) in offsets of SOURCE."""
    source = SourceText(path, SOURCE.text)
    made = (Edit(source.place(start, end), content) for start, end, content in edits)
    return Fix("fix", tuple(made), applicability)


@pytest.mark.parametrize(
    ("fixes", "text", "applied"),
    [
        ([], SOURCE.text, []),
        ([fix((0, 5, "MERGE"))], "MERGE into t\nusing s\non true\n", [0]),
        ([fix((24, 28, "false")), fix((0, 5, "MERGE"))], "MERGE into t\nusing s\non false\n", [0, 1]),
        ([fix((12, 21, " "))], "merge into t on true\n", [0]),
        ([fix((12, 12, " as a"), (20, 20, " as b"))], "merge into t as a\nusing s as b\non true\n", [0]),
        ([fix((29, 29, "when"))], "merge into t\nusing s\non true\nwhen", [0]),
        ([fix((0, 5, "a")), fix((4, 6, "b"))], "a into t\nusing s\non true\n", [0]),
        ([fix((0, 12, "a")), fix((3, 3, "b"))], "a\nusing s\non true\n", [0]),
        ([fix((3, 3, "b")), fix((0, 12, "a"))], "merbge into t\nusing s\non true\n", [0]),
        ([fix((0, 5, "a")), fix((5, 5, "b")), fix((5, 10, "c"))], "abc t\nusing s\non true\n", [0, 1, 2]),
        ([fix((5, 5, "a")), fix((5, 5, "b"))], "mergea into t\nusing s\non true\n", [0]),
        ([fix((5, 5, "a")), fix((5, 5, "a"))], "mergea into t\nusing s\non true\n", [0, 1]),
        ([fix((0, 5, "a")), fix((28, 28, "x"), (2, 3, "b"))], "a into t\nusing s\non true\n", [0]),
        ([fix((0, 5, "a")), fix((0, 5, "a"), (28, 28, "x"))], "a into t\nusing s\non true\n", [0]),
        ([fix((0, 5, "a"), (4, 6, "b"))], SOURCE.text, []),
        ([fix((5, 0, "a"))], SOURCE.text, []),
        ([fix((0, 5, "a"), path="other.sql")], SOURCE.text, []),
        ([fix((0, 5, "a"), applicability="unsafe")], SOURCE.text, []),
    ],
)
def test_fixes(fixes, text, applied):
    fixed = apply(SOURCE, fixes)
    assert fixed.text == text
    assert fixed.applied == tuple(fixes[index] for index in applied)
    assert fixed.skipped == tuple(each for index, each in enumerate(fixes) if index not in applied)


def test_unsafe_fixes_are_applied_on_request():
    assert apply(SOURCE, [fix((0, 5, "a"), applicability="unsafe")], unsafe=True).text.startswith("a into")


def test_a_place_without_an_end_inserts():
    assert apply(SOURCE, [Fix("fix", (Edit(Place("m.sql", 2, 6), " x"),), "safe")]).text.splitlines()[1] == "using x s"


TEXTS = st.text(st.sampled_from("ab\n\r é🦆"), max_size=30)
CONTENTS = st.text(st.sampled_from("xy\n"), max_size=3)


@st.composite
def apart(draw):
    """A text, and edits whose ranges do not meet."""
    text = draw(TEXTS)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=10)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    return text, [(start, end, draw(CONTENTS)) for start, end in spans]


@given(apart(), st.randoms())
def test_the_order_of_fixes_that_are_apart_does_not_matter(case, random):
    text, edits = case
    source = SourceText("m.sql", text)
    fixes = [Fix("fix", (Edit(source.place(start, end), content),), "safe") for start, end, content in edits]
    shuffled = random.sample(fixes, len(fixes))
    expected = text
    for start, end, content in reversed(edits):
        expected = expected[:start] + content + expected[end:]
    assert apply(source, fixes).text == apply(source, shuffled).text == expected
    assert apply(source, shuffled).skipped == ()


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), CONTENTS), max_size=12))
def test_of_any_fixes_those_applied_are_apart(text, edits):
    source = SourceText("m.sql", text)
    fixes = [Fix(str(index), (Edit(source.place(*edit[:2]), edit[2]),), "safe") for index, edit in enumerate(edits)]
    fixed = apply(source, fixes)
    assert sorted([*fixed.applied, *fixed.skipped], key=lambda each: int(each.message)) == fixes
    assert apply(source, fixed.applied).text == fixed.text
