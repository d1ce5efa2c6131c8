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

    `seen` are the numbers that the table has of windows that overlap with it, by their texts: it commits only where
    they are still the same. `number` is what its own commit records. `empties`: the rows of the window are removed
    before, by a commit that records `emptied_number`.
    """

    window: Window
    reason: Reason
    seen: Mapping[str, int]
    number: int
    empties: bool = False

    @property
    def emptied_number(self) -> int:
        """The number that is recorded where the rows of the window were removed."""
        return self.number // _STATES * _STATES + _EMPTIED

    @property
    def seen_by_merge(self) -> Mapping[str, int]:
        """The numbers that the table has when the MERGE begins."""
        return {**self.seen, str(self.window): self.emptied_number} if self.empties else self.seen


def commitments(recorded: Mapping[str, int], prefix: str) -> list[Commitment]:
    """Return what the applications of a table say of windows; their names are `prefix` and a window."""
    pairs = ((parsed_window(app.removeprefix(prefix)), number) for app, number in recorded.items())
    return [Commitment(window, number) for window, number in pairs if window is not None]


def due_batches(
    schedule: Schedule, committed: Sequence[Commitment], now: datetime, newest_row: datetime | None = None
) -> list[DueBatch]:
    """Return the batches that are due, in their order.

    Without any commit the batches begin at `begin`, or with the one of `newest_row`: the table was filled by others.
    Batches before the first committed one are not due, whatever `begin` says.
    """
    if committed:
        first = min(commitment.window.start for commitment in committed)
        last = max(commitment.window.end for commitment in committed)
    else:
        first = last = schedule.begin if newest_row is None else window_start(newest_row, schedule.size)
    windows = list(windows_of(first, now, schedule.size))
    states = _states(windows, committed, last)
    settled = _joined(commitment.window for commitment in committed if commitment.is_settled)
    unsettled = list(_unsettled(schedule, committed))

    def is_due_again(window: Window) -> bool:
        # By what is recorded, and not by where new batches begin: one that fails stays due when those after it run.
        return any(part.overlaps(window) for part in unsettled) and not any(one.covers(window) for one in settled)

    reasons: list[Reason | None] = [
        "lookback" if state is None and is_due_again(window) else state
        for window, state in zip(windows, states, strict=True)
    ]
    due = [(window, reason) for window, reason in zip(windows, reasons, strict=True) if reason is not None]
    return _numbered(schedule, _at_once(due, schedule.at_once, now), committed, now)


def asked_batches(
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
    windows = windows_of(start, now if end is None else end, schedule.size)
    asked = _at_once([(window, "asked") for window in windows], schedule.at_once, now)
    return [replace(batch, empties=empties) for batch in _numbered(schedule, asked, committed, now)]


def batches_again(
    schedule: Schedule, windows: Iterable[tuple[Window, Reason]], committed: Sequence[Commitment], now: datetime
) -> list[DueBatch]:
    """Return batches that have failed, without those that were due once and are committed by now."""
    complete = _joined(commitment.window for commitment in committed if commitment.is_complete)
    left = [
        (window, reason)
        for window, reason in windows
        if reason in ("lookback", "asked") or not any(other.covers(window) for other in complete)
    ]
    return _numbered(schedule, left, committed, now)


def overlapping(window: Window, committed: Iterable[Commitment]) -> dict[str, int]:
    """Return the numbers of the committed windows that overlap with a window, by their texts."""
    return {str(other.window): other.number for other in committed if other.window.overlaps(window)}


def _states(windows: Sequence[Window], committed: Sequence[Commitment], last: datetime) -> list[Reason | None]:
    """Return why each window is due; None: all of it is committed since it was over."""
    complete = _joined(commitment.window for commitment in committed if commitment.is_complete)
    emptied = [commitment.window for commitment in committed if commitment.is_emptied]
    partly = [commitment.window for commitment in committed if not commitment.is_complete]

    def state(window: Window) -> Reason | None:
        if any(other.overlaps(window) for other in emptied):
            return "missing"
        if any(other.covers(window) for other in complete):
            return None
        if window.start >= last:
            return "new"
        return "open" if any(other.overlaps(window) for other in partly) else "missing"

    return [state(window) for window in windows]


def _unsettled(schedule: Schedule, committed: Iterable[Commitment]) -> Iterator[Window]:
    """Yield the parts of windows that `lookback` asks for again: of several batches that ran as one the last ones."""
    for commitment in committed if schedule.lookback else ():
        window = commitment.window
        start = max(window.start, _moved_end(window, schedule, -schedule.lookback))
        if commitment.is_complete and not commitment.is_settled and start < window.end:
            yield replace(window, start=start)


def _moved_end(window: Window, schedule: Schedule, count: int) -> datetime:
    return moved_start(window_start(window.end, schedule.size), schedule.size, count)


def _joined(windows: Iterable[Window]) -> list[Window]:
    """Return the windows with those joined that touch or overlap."""
    joined: list[Window] = []
    for window in sorted(windows):
        if joined and window.start <= joined[-1].end:
            joined[-1] = replace(joined[-1], end=max(joined[-1].end, window.end))
        else:
            joined.append(window)
    return joined


def _at_once(due: Sequence[tuple[Window, Reason]], most: int, now: datetime) -> list[tuple[Window, Reason]]:
    """Return the batches with up to `most` adjacent ones of one reason as one; one that is not over stays alone."""
    joined: list[tuple[Window, Reason]] = []
    count = 0
    for window, reason in due:
        is_next = bool(joined) and joined[-1][1] == reason and joined[-1][0].end == window.start
        if is_next and count < most and window.end <= now:
            joined[-1] = (Window(joined[-1][0].start, window.end), reason)
            count += 1
        else:
            joined.append((window, reason))
            count = 1
    return joined


def _numbered(
    schedule: Schedule, due: Iterable[tuple[Window, Reason]], committed: Sequence[Commitment], now: datetime
) -> list[DueBatch]:
    by_start = sorted(committed, key=lambda commitment: commitment.window)
    starts = [commitment.window.start for commitment in by_start]
    longest = max((commitment.window.end - commitment.window.start for commitment in committed), default=timedelta())
    batches = []
    for window, reason in due:
        near = by_start[bisect_left(starts, window.start - longest) : bisect_left(starts, window.end)]
        seen = overlapping(window, near)
        count = seen.get(str(window), 0) // _STATES + 1
        is_settled = _moved_end(window, schedule, schedule.lookback) <= now
        state = _OPEN if window.end > now else _SETTLED if is_settled else _COMPLETE
        batches.append(DueBatch(window, reason, seen, count * _STATES + state))
    return batches
