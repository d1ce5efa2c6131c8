"""The MERGE of a node, its hooks and the check of its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.plan.steps.inputs import Feed
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import CreateTarget
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from merge_runner.plan.steps.guardrails import CostLimits, Expectation
    from merge_runner.plan.steps.runtime_filter import FilterPlan
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.text import Place


@dataclass(frozen=True)
class RunHook(Step):
    """A statement before or after the model's own (`pre_hook`, `post_hook`).

    `prepares` is the target of the MERGE that a pre_hook precedes; None elsewhere. `names_this` says that it names
    `{{ this }}`, `place` where it is written.
    """

    sql: str
    when: str
    prepares: CreateTarget | None = None
    names_this: bool = False
    place: Place | None = None

    def __str__(self) -> str:
        return f"{self.when}: {' '.join(self.sql.split())}"


@dataclass(frozen=True)
class CheckSource(Step):
    """Stops the node where the source of its MERGE is not what is expected, before its target is replaced."""

    target: Relation
    sql: str
    judged: JudgedMerge
    expect: Expectation

    def __str__(self) -> str:
        return f"look at the source before the table is replaced ({self.expect.limits})"


@dataclass(frozen=True)
class RunMerge(Step):
    """The author's MERGE, the static analysis of its scan, and its runtime filter.

    With a `feed` it runs once for each change, and not at all where there is none. What goes beyond what `expect`
    allows is not committed; where it is predicted to cost more than `cost_limits` allow, it does not run.
    """

    target: Relation
    sql: str
    judged: JudgedMerge
    bounding: FilterPlan | None = None
    feed: Feed | None = None
    expect: Expectation | None = None
    cost_limits: CostLimits | None = None

    def __str__(self) -> str:
        feed = f", from the changes of {self.feed.table.name} since the last it consumed" if self.feed else ""
        more = "".join(
            f", {addition}" for addition in (self.bounding, self.expect, self.cost_limits) if addition is not None
        )
        return f"merge into {self.target.name}{feed}{more}"
