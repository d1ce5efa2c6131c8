"""Which batches of a model are due: from what its table has committed up to now.

The table is the only record. It has, of each window that was committed, a number that counts up (`Commitment`), and a
batch commits only where the numbers are still what they were when the batch was found to be due.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from merge_runner.plan.batches.window import Window, moved_start, parsed_window, window_start, windows_of
from merge_runner.project.schema.batches import BatchSize

Reason = Literal["new", "open", "lookback", "missing", "asked"]
"""Why a batch is due: nothing of it or after it is committed; it was not over when it was committed; `lookback` asks
for it again; a later one is committed, and it is not; the command asks for it."""
_MISSING: Reason = "missing"
_EMPTIED, _OPEN, _COMPLETE, _SETTLED = 0, 1, 2, 3
_STATES = 10


@dataclass(frozen=True)
class Schedule:
    """How the batches of a model are made: how long they are, when the first one begins (UTC), how many run again.

    Up to `at_once` adjacent batches run as one.
    """

    size: BatchSize
    begin: datetime
    lookback: int
    at_once: int


@dataclass(frozen=True)
class Commitment:
    """What a table says of a window: how often it was committed, and whether the window was over then.

    The number of the n-th commit is 10 n + 1 where the window was open, 10 n + 2 where it was over, and 10 n + 3 where
    the `lookback` batches after it were over, too: no row may come any more. It is 10 n where the rows of the window
    were removed, to be merged again. So a number tells all of it, and each commit has a higher one.
    """

    window: Window
    number: int

    @property
    def is_complete(self) -> bool:
        """Whether the window was over when it was committed last."""
        return self.number % _STATES in (_COMPLETE, _SETTLED)

    @property
    def is_settled(self) -> bool:
        """Whether the batches that `lookback` waits for were over as well."""
        return self.number % _STATES == _SETTLED

    @property
    def is_emptied(self) -> bool:
        """Whether its rows were removed, and not merged again."""
        return self.number % _STATES == _EMPTIED


@dataclass(frozen=True)
class DueBatch:
    """A batch that is to run.

    `record` has the numbers of the committed windows that overlap with it, by their texts: it commits only where they
    are still the same. `number` is what its own commit records. `empties`: the rows of the window are removed before,
    by a commit that records `emptied_number`.
    """

    window: Window
    reason: Reason
    record: Mapping[str, int]
    number: int
    empties: bool = False

    @property
    def emptied_number(self) -> int:
        """The number that is recorded where the rows of the window were removed."""
        return self.number // _STATES * _STATES + _EMPTIED

    @property
    def record_before_merge(self) -> Mapping[str, int]:
        """The numbers that the table has when the MERGE begins."""
        return {**self.record, str(self.window): self.emptied_number} if self.empties else self.record


def commitments(recorded: Mapping[str, int], prefix: str) -> list[Commitment]:
    """Return what the applications of a table say of windows; their names are `prefix` and a window."""
    pairs = ((parsed_window(app.removeprefix(prefix)), number) for app, number in recorded.items())
    return [Commitment(window, number) for window, number in pairs if window is not None]


def due_batches(
    schedule: Schedule, committed: Sequence[Commitment], now: datetime, newest_row: datetime | None = None
) -> list[DueBatch]:
    """Return the batches that are due, in their order.

    Without any commit the batches begin at `begin`, or with the one of `newest_row`: the table was filled by others.
    Batches before `begin`, and before the first committed one, are not due.
    """
    if committed:
        first = max(schedule.begin, min(commitment.window.start for commitment in committed))
        last = max(commitment.window.end for commitment in committed)
    else:
        first = last = schedule.begin if newest_row is None else window_start(newest_row, schedule.size)
    # A window whose rows were removed is merged as a whole: nothing else replaces what is recorded of it.
    emptied = _apart([commitment.window for commitment in committed if commitment.is_emptied])
    windows = [
        window
        for window in windows_of(first, now, schedule.size)
        if not any(other.overlaps(window) for other in emptied)
    ]
    states = _states(schedule, windows, committed, last)
    due = [(window, state) for window, state in zip(windows, states, strict=True) if state is not None]
    joined = [*_join_adjacent(due, schedule, now), *((window, _MISSING) for window in emptied)]
    return _with_numbers(schedule, sorted(joined), committed, now)


def batches_between(
    schedule: Schedule,
    committed: Sequence[Commitment],
    now: datetime,
    start: datetime,
    end: datetime | None,
    *,
    empties: bool = False,
) -> list[DueBatch]:
    """Return the batches from the one that `start` is in to the one that ends at `end` or later; None: up to now.

    `empties`: the rows of their windows are removed before.
    """
    windows: list[tuple[Window, Reason]] = [
        (window, "asked") for window in windows_of(start, now if end is None else end, schedule.size)
    ]
    batches = _with_numbers(schedule, _join_adjacent(windows, schedule, now), committed, now)
    return [replace(batch, empties=empties) for batch in batches]


def overlap_numbers(window: Window, committed: Iterable[Commitment]) -> dict[str, int]:
    """Return the numbers of the committed windows that overlap with a window, by their texts."""
    return {str(other.window): other.number for other in committed if other.window.overlaps(window)}


def joined_windows(windows: Iterable[Window]) -> list[Window]:
    """Return the windows with those joined that touch or overlap."""
    joined: list[Window] = []
    for window in sorted(windows):
        if joined and window.start <= joined[-1].end:
            joined[-1] = replace(joined[-1], end=max(joined[-1].end, window.end))
        else:
            joined.append(window)
    return joined


def _states(
    schedule: Schedule, windows: Sequence[Window], committed: Sequence[Commitment], last: datetime
) -> list[Reason | None]:
    """Return why each window is due; None: all of it is committed, and no row of it may come late."""
    complete = joined_windows(commitment.window for commitment in committed if commitment.is_complete)
    settled_windows = joined_windows(commitment.window for commitment in committed if commitment.is_settled)
    unsettled = list(_unsettled(schedule, committed))
    partly = [commitment.window for commitment in committed if not commitment.is_complete]

    def state(window: Window) -> Reason | None:
        if any(other.covers(window) for other in complete):
            # By what is recorded, and not by where new batches begin: one that fails stays due when later ones run.
            is_due_again = any(part.overlaps(window) for part in unsettled)
            return "lookback" if is_due_again and not any(other.covers(window) for other in settled_windows) else None
        if window.start >= last:
            return "new"
        return "open" if any(other.overlaps(window) for other in partly) else _MISSING

    return [state(window) for window in windows]


def _apart(windows: Sequence[Window]) -> list[Window]:
    """Return windows of which no two overlap: of those that do the longest."""
    apart: list[Window] = []
    for window in sorted(windows, key=lambda window: window.start - window.end):
        if not any(other.overlaps(window) for other in apart):
            apart.append(window)
    return apart


def _unsettled(schedule: Schedule, committed: Iterable[Commitment]) -> Iterator[Window]:
    """Yield the parts of windows that `lookback` asks for again: of several batches that ran as one the last ones."""
    for commitment in committed if schedule.lookback else ():
        window = commitment.window
        start = max(window.start, _moved_end(window, schedule, -schedule.lookback))
        if commitment.is_complete and not commitment.is_settled and start < window.end:
            yield replace(window, start=start)


def _moved_end(window: Window, schedule: Schedule, count: int) -> datetime:
    return moved_start(window_start(window.end, schedule.size), schedule.size, count)


def _state_of_commit(window: Window, schedule: Schedule, now: datetime) -> int:
    """Return what the number of a commit of a window says of it."""
    if window.end > now:
        return _OPEN
    return _SETTLED if _moved_end(window, schedule, schedule.lookback) <= now else _COMPLETE


def _join_adjacent(
    due: Sequence[tuple[Window, Reason]], schedule: Schedule, now: datetime
) -> list[tuple[Window, Reason]]:
    """Return the batches with up to `at_once` adjacent ones as one; one that is not over stays alone.

    They have one reason and one state: a commit of old batches with newer ones would leave the old ones due again.
    """
    joined: list[tuple[Window, Reason]] = []
    count, last_state = 0, _OPEN
    for window, reason in due:
        state = _state_of_commit(window, schedule, now)
        is_next = bool(joined) and joined[-1][1] == reason and joined[-1][0].end == window.start
        if is_next and count < schedule.at_once and state == last_state != _OPEN:
            joined[-1] = (Window(joined[-1][0].start, window.end), reason)
            count += 1
        else:
            joined.append((window, reason))
            count = 1
        last_state = state
    return joined


def _with_numbers(
    schedule: Schedule, due: Iterable[tuple[Window, Reason]], committed: Sequence[Commitment], now: datetime
) -> list[DueBatch]:
    by_start = sorted(committed, key=lambda commitment: commitment.window)
    starts = [commitment.window.start for commitment in by_start]
    longest = max((commitment.window.end - commitment.window.start for commitment in committed), default=timedelta())
    batches = []
    for window, reason in due:
        near = by_start[bisect_left(starts, window.start - longest) : bisect_left(starts, window.end)]
        record = overlap_numbers(window, near)
        count = record.get(str(window), 0) // _STATES + 1
        number = count * _STATES + _state_of_commit(window, schedule, now)
        batches.append(DueBatch(window, reason, record, number))
    return batches
