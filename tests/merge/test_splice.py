import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.merge.splice import origin, splice
from merge_runner.text import Span


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], "abcdef"),
        ([(Span(0, 0), "x")], "xabcdef"),
        ([(Span(6, 6), "x")], "abcdefx"),
        ([(Span(2, 4), "")], "abef"),
        ([(Span(4, 5), "Y"), (Span(1, 2), "X")], "aXcdYf"),
        ([(Span(2, 2), "x"), (Span(2, 2), "y")], "abxycdef"),
        ([(Span(2, 2), "y"), (Span(2, 2), "x")], "abyxcdef"),
        ([(Span(2, 4), "Z"), (Span(2, 2), "x")], "abxZef"),
        ([(Span(0, 2), "1"), (Span(2, 4), "2"), (Span(4, 4), "i")], "12ief"),
        ([(Span(0, 6), "")], ""),
    ],
)
def test_edits_replace_and_insert(edits, expected):
    assert splice("abcdef", edits) == expected


@pytest.mark.parametrize(
    "edits",
    [
        [(Span(0, 3), "x"), (Span(2, 4), "y")],
        [(Span(0, 3), "x"), (Span(1, 1), "y")],
        [(Span(0, 3), "x"), (Span(0, 3), "y")],
        [(Span(0, 7), "x")],
        [(Span(-1, 2), "x")],
        [(Span(3, 2), "x")],
    ],
)
def test_overlaps_and_spans_outside_the_text_are_errors(edits):
    with pytest.raises(ValueError, match="Span"):
        splice("abcdef", edits)


@given(st.lists(st.text(max_size=5), min_size=1, max_size=12), st.data())
def test_replacing_parts_joins_the_replaced_parts(parts, data):
    text, edits, expected, at = "".join(parts), [], [], 0
    for part in parts:
        replacement = data.draw(st.none() | st.text(max_size=5)) if part else None
        if replacement is not None:
            edits.append((Span(at, at + len(part)), replacement))
        expected.append(part if replacement is None else replacement)
        at += len(part)
    assert splice(text, data.draw(st.permutations(edits))) == "".join(expected)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=12), st.data())
def test_what_stays_is_found_where_it_was(parts, data):
    edits, expected, at = [], [], 0
    for part in parts:
        replacement = data.draw(st.none() | st.text(max_size=3))
        if replacement is None:
            expected += range(at, at + len(part))
        else:
            edits.append((Span(at, at + len(part)), replacement))
            expected += [None] * len(replacement)
        at += len(part)
    assert len(splice("".join(parts), edits)) == len(expected)
    assert [origin(edits, place) for place in range(len(expected) + 1)] == [*expected, at]
