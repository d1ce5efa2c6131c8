"""The projected time of a MERGE, from its earlier runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.engine.context import PastMerge
from merge_runner.engine.merge.prediction import FIXED_COST, predicted_seconds

GIB = 1 << 30
RUNS = st.lists(st.builds(PastMerge, st.integers(0, 1 << 50), st.floats(0, 1e5)), min_size=1, max_size=10)


@pytest.mark.parametrize(
    ("size", "past", "seconds"),
    [
        (GIB, [], None),
        (GIB, [(GIB, 8.0)], 8.0),
        (2 * GIB, [(GIB, 8.0)], 16.0),
        (GIB, [(GIB, 8.0), (GIB, 10.0), (GIB, 100.0)], 10.0),
        (GIB, [(GIB, 8.0), (2 * GIB, 20.0)], 9.0),
        (0, [(1000, 2.0)], 2.0),  # what is small takes the fixed time of a statement
        (2 * FIXED_COST, [(1000, 2.0)], 4.0),
    ],
)
def test_seconds_are_scaled_by_bytes(size, past, seconds):
    assert predicted_seconds(size, [PastMerge(*run) for run in past]) == seconds


@given(RUNS, st.integers(0, 1 << 50), st.integers(0, 1 << 50))
def test_more_bytes_never_take_less_time(past, size, more):
    assert predicted_seconds(size, past) <= predicted_seconds(size + more, past)
