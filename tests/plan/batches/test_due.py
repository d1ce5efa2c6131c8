"""Which batches are due, as the commits of the table have it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.plan.batches.due import (
    Commitment,
    DueBatch,
    Schedule,
    batches_between,
    commitments,
    due_batches,
)
from merge_runner.plan.batches.window import Window, parsed_window

BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)
NOW = datetime(2024, 1, 6, 12, tzinfo=timezone.utc)


def day(number: int, days: int = 1) -> Window:
    return Window(BEGIN + timedelta(days=number - 1), BEGIN + timedelta(days=number - 1 + days))


def committed(numbers: str) -> list[Commitment]:
    """`1:12 2:11`: the numbers of the days of January; `1-3:12` is one window of three days."""
    commits = []
    for word in numbers.split():
        days, _, number = word.partition(":")
        first, _, last = days.partition("-")
        commits.append(Commitment(day(int(first), int(last or first) - int(first) + 1), int(number)))
    return commits


def words(due: Sequence[DueBatch]) -> str:
    return " ".join(
        f"{batch.window.start.day}-{(batch.window.end - timedelta(days=1)).day} {batch.reason}" for batch in due
    )


DUE = [
    # (commits, lookback, at once, due)
    ("", 1, 1, "1-1 new 2-2 new 3-3 new 4-4 new 5-5 new 6-6 new"),
    ("", 1, 4, "1-4 new 5-5 new 6-6 new"),
    ("1:12 2:12 3:12 4:12", 0, 1, "5-5 new 6-6 new"),
    ("1:13 2:13 3:13 4:12", 1, 1, "4-4 lookback 5-5 new 6-6 new"),
    # One that settles now is no part of one that will run again.
    ("1:13 2:13 3:12 4:12", 2, 9, "3-3 lookback 4-4 lookback 5-5 new 6-6 new"),
    ("1:12 2:12 3:12 4:12", 2, 9, "1-3 lookback 4-4 lookback 5-5 new 6-6 new"),
    # A window whose rows were removed is merged as it was removed.
    ("1:13 2:20 3:13 4:13 5:12 6:11", 1, 9, "2-2 missing 5-5 lookback 6-6 open"),
    ("1:13 2-4:20 5:12 6:11", 1, 1, "2-4 missing 5-5 lookback 6-6 open"),
    ("1-5:12 2-3:10 6:11", 0, 1, "2-3 missing 6-6 open"),
    # Of such windows that overlap the longest comes first, and the others in the next run.
    ("1:13 2-4:20 3:20 5:12 6:11", 0, 1, "2-4 missing 6-6 open"),
    ("1:12 2:12 3:12 4:12 5:12 6:11", 0, 1, "6-6 open"),
    ("1:13 2:13 3:13 4:13 5:12 6:11", 1, 1, "5-5 lookback 6-6 open"),
    ("1:13 2:13 3:12 4:11", 1, 1, "3-3 lookback 4-4 open 5-5 new 6-6 new"),
    # A hole does not move what runs again.
    ("1:13 3:13 4:13 5:12", 1, 1, "2-2 missing 5-5 lookback 6-6 new"),
    # What is before the first commit is not due.
    ("3:13 4:13 5:12 6:11", 1, 1, "5-5 lookback 6-6 open"),
    # What failed when it was to run again is due until it has, though later ones are committed.
    ("1:13 2:12 3:13 4:13 5:12", 1, 1, "2-2 lookback 5-5 lookback 6-6 new"),
    # Of batches that ran as one the last ones run again.
    ("1-3:12 4:13 5:13", 1, 1, "3-3 lookback 6-6 new"),
    ("1-3:12 3:13 4:13 5:13", 1, 1, "6-6 new"),
    ("1-3:12 4:13 5:13", 0, 1, "6-6 new"),
    # Batches of another size count: a window of three days is three days.
    ("1-3:12 4:12", 0, 1, "5-5 new 6-6 new"),
    ("1-3:11 4:12 5:12", 0, 1, "1-1 open 2-2 open 3-3 open 6-6 new"),
    ("1-3:11 1:12 2:12 4:12 5:12", 0, 1, "3-3 open 6-6 new"),
    ("1:23 2:33 3:13 4:12 5:12 6:12", 3, 1, "4-4 lookback 5-5 lookback 6-6 lookback"),
]


@pytest.mark.parametrize(("commits", "lookback", "at_once", "due"), DUE)
def test_due(commits: str, lookback: int, at_once: int, due: str) -> None:
    assert words(due_batches(Schedule("day", BEGIN, lookback, at_once), committed(commits), NOW)) == due


def test_a_table_that_others_filled_begins_with_its_newest_row() -> None:
    due = due_batches(Schedule("day", BEGIN, 1, 1), [], NOW, newest_row=NOW - timedelta(days=2))
    assert words(due) == "4-4 new 5-5 new 6-6 new"


def test_what_was_asked_for_before_begin_makes_nothing_due() -> None:
    schedule = Schedule("day", BEGIN + timedelta(days=3), 0, 1)
    assert words(due_batches(schedule, committed("1:13 4:13"), NOW)) == "5-5 new 6-6 new"


@pytest.mark.parametrize(("lookback", "at_once", "most"), [(0, 1, 2), (1, 1, 3), (2, 30, 4), (3, 5, 5), (7, 7, 9)])
def test_a_daily_build_merges_no_more_batches_than_lookback_asks_for(lookback: int, at_once: int, most: int) -> None:
    schedule, record = Schedule("day", BEGIN, lookback, at_once), dict[str, int]()
    for number in range(1, 60):
        now = BEGIN + timedelta(days=number, hours=10)
        windows = [(parsed_window(text), commit) for text, commit in record.items()]
        due = due_batches(schedule, [Commitment(window, commit) for window, commit in windows if window], now)
        days = sum((batch.window.end - batch.window.start).days for batch in due)
        assert days <= most
        record |= {str(batch.window): batch.number for batch in due}


def test_months_settle_days() -> None:
    schedule, now = Schedule("month", BEGIN, 1, 1), datetime(2024, 3, 10, tzinfo=timezone.utc)
    days = committed(" ".join(f"{number}:12" for number in range(1, 32)))
    assert words(due_batches(schedule, days, now)) == "1-31 lookback 1-29 new 1-31 new"
    month = Commitment(Window(BEGIN, datetime(2024, 2, 1, tzinfo=timezone.utc)), 13)
    assert words(due_batches(schedule, [*days, month], now)) == "1-29 new 1-31 new"


def test_months_cover_the_days_that_are_committed() -> None:
    days = committed(" ".join(f"{number}:12" for number in range(1, 32)))
    due = due_batches(Schedule("month", BEGIN, 0, 1), days, datetime(2024, 2, 10, tzinfo=timezone.utc))
    assert [str(batch.window) for batch in due] == ["2024-02-01/2024-03-01"]


def test_asked() -> None:
    schedule = Schedule("day", BEGIN, 1, 1)
    commits = committed("1:12 2:22 3:12")
    due = batches_between(schedule, commits, NOW, BEGIN + timedelta(hours=30), BEGIN + timedelta(days=3, hours=1))
    assert words(due) == "2-2 asked 3-3 asked 4-4 asked"
    assert [(batch.number, dict(batch.record)) for batch in due] == [
        (33, {"2024-01-02/2024-01-03": 22}),
        (23, {"2024-01-03/2024-01-04": 12}),
        (13, {}),
    ]
    assert words(batches_between(schedule, commits, NOW, BEGIN + timedelta(days=4), None)) == "5-5 asked 6-6 asked"


def test_the_number_of_a_commit() -> None:
    due = due_batches(Schedule("day", BEGIN, 1, 1), committed("4:13 5:52 6:11"), NOW)
    assert [(batch.number, dict(batch.record)) for batch in due] == [
        (62, {"2024-01-05/2024-01-06": 52}),
        (21, {"2024-01-06/2024-01-07": 11}),
    ]


def test_commits_of_others_are_no_windows() -> None:
    recorded = {"shop.m@": 3, "shop.m@2024-01-01/2024-01-02": 12, "shop.m@x/y": 4}
    assert commitments(recorded, "shop.m@") == [Commitment(day(1), 12)]


@given(
    st.integers(0, 3),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 30), st.sets(st.integers(0, 9))), min_size=1, max_size=6),
)
def test_builds_leave_no_hole(lookback: int, at_once: int, builds: list[tuple[int, set[int]]]) -> None:
    """Whatever fails in whichever build: after one in which nothing fails, all that is over is committed once or more."""
    schedule, record, now = Schedule("day", BEGIN, lookback, at_once), {}, BEGIN
    for hours, failing in [*builds, (0, set())]:
        now += timedelta(hours=hours)
        due = due_batches(schedule, [Commitment(parsed_window(text), number) for text, number in record.items()], now)  # type: ignore[arg-type]
        for index, batch in enumerate(due):
            if index in failing or (not record and index > 0 and 0 in failing):
                continue  # a table that is not there has no later batch
            assert record.get(str(batch.window), 0) < batch.number
            record[str(batch.window)] = batch.number
    complete = [window for text, number in record.items() if number % 10 >= 2 and (window := parsed_window(text))]
    over = [day(number) for number in range(1, 400) if day(number).end <= now]
    assert all(any(window.covers(one) for window in complete) for one in over)
