"""How a MERGE will be bounded when it runs: by which columns, and where their values are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from merge_runner.plan.steps.guardrails import runs_on_branch
from merge_runner.pruning.runtime_filter.source_pinning import SourcePin, bounds_left_out

if TYPE_CHECKING:
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.pruning.verdict import Bound


@dataclass(frozen=True)
class FilterPlan:
    """The bounds that the runner derives. The rows that they come from are the rows that the MERGE sees.

    `pin` is how the source is fixed, for the question for the values and for the MERGE. That can run `on_branch` where
    the engine would not notice a later change of what the source reads of the target. `always`: the author named the
    columns, so that it is not asked whether bounds pay. `left_out` says in words why there will be no bounds.
    """

    bounds: tuple[Bound, ...]
    pin: SourcePin = field(default_factory=SourcePin)
    always: bool = False
    left_out: str | None = None
    on_branch: bool = False

    def __str__(self) -> str:
        columns = ", ".join(bound.column for bound in self.bounds)
        if self.left_out is not None:
            return f"no bounds on {columns}: {self.left_out}"
        where = "the source is computed once"
        if self.pin.scan is not None:
            where = f"{'.'.join(self.pin.scan.parts)} is read as of one version"
        note = ", what it reads of the target is checked by the MERGE" if self.pin.marks else ""
        return f"bounds on {columns} by the values of the source: {where}{note}"


def bounding(merge: JudgedMerge, setting: Literal["auto", "off"] | Sequence[str]) -> FilterPlan | None:
    """The bounds of a MERGE; None where none can be derived, or its text alone bounds it and none are asked for."""
    judgement = merge.judgement
    if judgement.left_out is not None:
        return FilterPlan(judgement.bounds, left_out=judgement.left_out)
    always = setting not in ("auto", "off")
    if not judgement.bounds or (judgement.verdict != "runtime" and not always):
        return None
    left_out = bounds_left_out(merge.statement, merge.source_pin)
    if left_out is not None:
        return FilterPlan(judgement.bounds, left_out=left_out)
    fixing, format = merge.source_pin, merge.layout.format
    on_branch = bool(fixing.marks) and format is not None and runs_on_branch(merge.statement, format)
    return FilterPlan(judgement.bounds, fixing, always, on_branch=on_branch)
