"""Whether source rows that change nothing are left out of a MERGE when it runs (`skip_unchanged`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from merge_runner.formats.merge_plans import marks
from merge_runner.formats.registry import capabilities
from merge_runner.plan.steps.guardrails import runs_on_branch
from merge_runner.pruning.judge.unchanged_rows import Refusal, UnchangedRows, unchanged_rows

if TYPE_CHECKING:
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.pruning.layout.layout import TableLayout

SkipUnchanged = Literal["auto", "on", "off", "equal_rows"]
"""The config key."""


@dataclass(frozen=True)
class Skipping:
    """How rows are left out: always, or (`auto`) where earlier merges of the table have shown that it pays.

    `rows` is how they are found, `left_out` why there are none: one of the two is None. `on_branch`: the MERGE can run
    on a branch, where the engine would not notice that another writer changes the target meanwhile.
    """

    auto: bool
    rows: UnchangedRows | None = None
    left_out: str | None = None
    on_branch: bool = False

    def __str__(self) -> str:
        if self.rows is None:
            return f"no unchanged rows are left out: {self.left_out}"
        how = "where earlier merges had many" if self.auto else "that match without a change"
        compared = ", or set equal values" if any(change.compares for change in self.rows.changes) else ""
        return f"source rows are left out {how}{compared}"


def skipping(merge: JudgedMerge, wanted: SkipUnchanged, *, feed: bool = False) -> Skipping | None:
    """Return how rows are left out of the source of a MERGE; None where they are not, and the author asks for nothing.

    `feed`: the source is what has changed since the last run.
    """
    auto, layout = wanted == "auto", merge.layout
    if wanted == "off" or (auto and (feed or not _can_show(layout))):
        return None
    if feed:
        return Skipping(auto, left_out="the source is what has changed in another table")
    found = unchanged_rows(merge, equal_rows=wanted == "equal_rows")
    if isinstance(found, Refusal):
        return None if auto else Skipping(auto, left_out=found.reason)
    on_branch = layout.format is not None and runs_on_branch(merge.statement, layout.format)
    return Skipping(auto, found, on_branch=on_branch)


def _can_show(layout: TableLayout) -> bool:
    """Whether past merges of a table can show that rows were copied for nothing."""
    if layout.format is None or marks(layout.format, layout.properties):
        return False
    return capabilities(layout.format).records_source_rows
