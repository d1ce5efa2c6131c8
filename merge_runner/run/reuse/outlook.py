"""Which nodes the next build would run, and why, as far as that is known before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merge_runner.graph.order import contracted, topological
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.reuse.decision import RunDecision
from merge_runner.run.reuse.reuse import Reuse


@dataclass(frozen=True)
class Prediction:
    """What a build would do with a node: whether it runs, and why it does or does not."""

    runs: bool
    because: str

    def __str__(self) -> str:
        return f"would run: {self.because}" if self.runs else f"would be left out: {self.because}"


def outlook(prepared: Prepared, plans: Mapping[str, NodePlan]) -> dict[str, Prediction]:
    """Return what a build of these nodes would do with each.

    What reads a table or view that is built before counts as running: whether that one changes is not known yet.
    """
    reuse, dag = Reuse(prepared, "auto", ""), contracted(prepared.graph, plans)
    predictions: dict[str, Prediction] = {}
    for unique_id in topological(prepared.graph, plans):
        # A unit test runs before its model, on rows of its own.
        above = () if prepared.graph.nodes[unique_id].resource_type == "unit_test" else dag.predecessors(unique_id)
        rebuilt = [parent for parent in above if parent in predictions and predictions[parent].runs]
        decision = reuse.decide(plans[unique_id], rebuilt)
        predictions[unique_id] = Prediction(isinstance(decision, RunDecision), decision.because)
    return predictions


def changed_inputs(prepared: Prepared) -> frozenset[str]:
    """Return the nodes of a project that a build of all would run. Raises ProblemsError for what cannot be compiled."""
    planner = Planner(prepared)
    plans = {unique_id: plan for unique_id in prepared.graph.nodes if (plan := planner.plan(unique_id)) is not None}
    return frozenset(unique_id for unique_id, expected in outlook(prepared, plans).items() if expected.runs)
