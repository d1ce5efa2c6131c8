"""Windows: where batches begin and end, their texts, and their bounds as literals."""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.plan.batches.window import (
    Window,
    moved_start,
    parsed_window,
    time_literal,
    window_id,
    window_start,
    windows_of,
)
from merge_runner.project.schema.batches import BatchSize

SIZES = st.sampled_from(get_args(BatchSize))
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(timezone.utc))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("time", "size", "start", "end", "text", "id"),
    [
        (
            "2024-02-29 13:45",
            "hour",
            "2024-02-29 13:00",
            "2024-02-29 14:00",
            "2024-02-29T13/2024-02-29T14",
            "20240229T13",
        ),
        ("2024-02-29 23:45", "hour", "2024-02-29 23:00", "2024-03-01", "2024-02-29T23/2024-03-01", "20240229T23"),
        ("2024-02-29 13:45", "day", "2024-02-29", "2024-03-01", "2024-02-29/2024-03-01", "20240229"),
        ("2024-12-31 13:45", "month", "2024-12-01", "2025-01-01", "2024-12-01/2025-01-01", "202412"),
        ("2024-02-29 13:45", "year", "2024-01-01", "2025-01-01", "2024-01-01/2025-01-01", "2024"),
    ],
)
def test_window(time: str, size: BatchSize, start: str, end: str, text: str, id: str) -> None:
    window = next(windows_of(utc(time), utc("2100-01-01"), size))
    assert (window.start, window.end) == (utc(start), utc(end))
    assert (str(window), window_id(window, size)) == (text, id)
    assert parsed_window(text) == window


def test_id_of_several_batches() -> None:
    assert window_id(Window(utc("2024-01-01"), utc("2024-04-01")), "month") == "202401_202403"


@pytest.mark.parametrize(
    "text", ["", "2024-01-01", "2024-01-01/", "2024-01-02/2024-01-01", "2024-13-01/2025-01-01", "a/b"]
)
def test_no_window(text: str) -> None:
    assert parsed_window(text) is None


@pytest.mark.parametrize(
    ("type", "literal"),
    [
        ("date", "date'2024-03-31'"),
        ("timestamp", "timestamp'2024-03-31 01:00:00+00:00'"),
        ("timestamp_ntz", "timestamp_ntz'2024-03-31 01:00:00'"),
    ],
)
def test_literal(type: str, literal: str) -> None:
    assert time_literal(utc("2024-03-31 01:00"), type) == literal  # type: ignore[arg-type]


@given(SIZES, TIMES, st.integers(0, 40))
def test_windows_are_adjacent_and_cover_the_time(size: BatchSize, time: datetime, count: int) -> None:
    until = moved_start(window_start(time, size), size, count)
    windows = list(windows_of(time, until, size))
    assert len(windows) == count
    assert all(first.end == second.start for first, second in pairwise(windows))
    if windows:
        assert windows[0].start <= time < windows[0].end
        assert windows[-1].end == until
    assert all(parsed_window(str(window)) == window for window in windows)


@given(SIZES, TIMES, st.integers(-50, 50))
def test_a_start_moves_there_and_back(size: BatchSize, time: datetime, count: int) -> None:
    start = window_start(time, size)
    assert moved_start(moved_start(start, size, count), size, -count) == start
