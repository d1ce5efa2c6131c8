"""The steps of a node whose text depends on what a query returns, made while the node runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from merge_runner.plan.load.asking import Asking, inlined_models
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.template.operation.table import Operation


def plan_asking(
    prepared: Prepared, unique_id: str, operation: Operation, on_read: Callable[[str], None], *, first_run: bool
) -> NodePlan:
    """Return the plan of a node that is about to run, with its texts as the statements that they execute have them.

    `operation` executes the statements; `on_read` is called with the id of each node that the texts refer to, before
    a statement may read it. `first_run`: the table of a merge model was never built. What the texts log is in
    `rendered`. Raises ProblemsError for what can be known only now: the problems of the texts, and config or edges
    that depend on what a query returns.
    """
    asking = Asking(unique_id, inlined_models(prepared.graph, unique_id), operation, on_read, first_run)
    plan = Planner(replace(prepared, asking=asking, on_log=lambda _log: None)).plan(unique_id)
    assert plan is not None, f"{unique_id} has no steps"
    return plan
