"""What differs between two sets of rows; nothing does where one is a permutation of the other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.testing.difference import Cell, ChangedRow, Difference, difference
from merge_runner.testing.difference_text import in_words

COLUMNS = ("id", "v")
VALUES = st.none() | st.integers(-2, 2) | st.sampled_from([0.1, 0.1 + 1e-12, -0.0, 0.0, math.nan, math.inf])
ROWS = st.lists(st.tuples(st.integers(0, 3), VALUES), max_size=6)


@given(ROWS, st.randoms())
def test_the_order_does_not_count(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert difference(COLUMNS, rows, shuffled, ("id",)) is None


@given(ROWS, ROWS, st.sampled_from([(), ("id",)]))
def test_what_is_told_makes_one_side_the_other(expected, actual, key):
    found = difference(COLUMNS, expected, actual, key)
    lost = found.missing if found else ()
    new = found.unexpected if found else ()
    assert len(expected) - len(lost) == len(actual) - len(new)
    if found is not None:
        assert found.count > 0
        turned = difference(COLUMNS, actual, expected, key)
        assert (len(turned.missing), len(turned.unexpected)) == (len(new), len(lost))
        assert len(turned.changed) == len(found.changed)


@pytest.mark.parametrize(
    ("expected", "actual", "key", "found"),
    [
        ([(1, 0.3)], [(1, 0.1 + 0.2)], (), None),
        ([(1, None)], [(1, 0)], ("id",), Difference(COLUMNS, changed=(ChangedRow({"id": 1}, (Cell("v", None, 0),)),))),
        ([(1, 1)], [(1, 1), (1, 1)], ("id",), Difference(COLUMNS, unexpected=((1, 1),))),
        ([(1, 1)], [(1, 2), (1, 3)], ("id",), Difference(COLUMNS, missing=((1, 1),), unexpected=((1, 2), (1, 3)))),
        ([(1, 1)], [(1, 2)], (), Difference(COLUMNS, missing=((1, 1),), unexpected=((1, 2),))),
        ([(1, 1)], [(1, 2)], ("other",), Difference(COLUMNS, missing=((1, 1),), unexpected=((1, 2),))),
        ([(1, [1.0])], [(1, [1.0 + 1e-12])], (), None),
        ([(1, {"a": math.nan})], [(1, {"a": math.nan})], (), None),
    ],
)
def test_differences(expected, actual, key, found):
    assert difference(COLUMNS, expected, actual, key) == found


def test_near_values_are_paired_as_often_as_they_can_be():
    """The first is near to both, the second to one: whoever takes the first that fits leaves one over."""
    near = 1e-9
    expected = [(1, 1.0), (1, 1.0 - near * 0.9)]
    actual = [(1, 1.0 - near * 0.5), (1, 1.0 + near * 0.9)]
    assert difference(COLUMNS, expected, actual) is None


def test_only_so_many_rows_are_told_in_words():
    found = Difference(COLUMNS, missing=tuple((number, "x") for number in range(30)))
    lines = in_words("the rows", found).split("\n")
    assert lines[:2] == ["the rows: 30 rows are missing", "  - id=0, v='x'"]
    assert lines[-1] == "    and 10 more"
    assert len(lines) == 22
