"""The batches of a model, as `explain` shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from merge_runner.plan.batches.due import DueBatch, Schedule

_MOST = 10
"""Due batches that the text has one by one."""


@dataclass(frozen=True)
class BatchOutlook:
    """How the batches of a model are made. `due` are those that a build would run; None: its table was not asked."""

    schedule: Schedule
    due: Sequence[DueBatch] | None = None

    def lines(self) -> Iterator[str]:
        """Yield it as text."""
        schedule = self.schedule
        words = (
            f"in batches of a {schedule.size} since {schedule.begin:%Y-%m-%d %H:%M} UTC, lookback {schedule.lookback}"
        )
        if schedule.at_once > 1:
            words += f", up to {schedule.at_once} as one"
        yield words if self.due is not None else f"{words}; its table says which are due: `explain --spark`"
        for batch in (self.due or ())[:_MOST]:
            yield f"  due: {batch.window} ({batch.reason})"
        if self.due is not None and len(self.due) > _MOST:
            yield f"  and {len(self.due) - _MOST} more, to {self.due[-1].window}"
        if self.due is not None and not self.due:
            yield "  none is due"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        schedule = self.schedule
        due = None
        if self.due is not None:
            due = [
                {"start": batch.window.start.isoformat(), "end": batch.window.end.isoformat(), "reason": batch.reason}
                for batch in self.due
            ]
        return {
            "batch_size": schedule.size,
            "begin": schedule.begin.isoformat(),
            "lookback": schedule.lookback,
            "batches_at_once": schedule.at_once,
            "due": due,
        }
