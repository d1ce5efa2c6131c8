"""The plans of the nodes that a run was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import NamedTuple

from merge_runner.errors import Problems
from merge_runner.plan.load.defer import BuiltNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.input_caching import with_shared_inputs
from merge_runner.plan.nodes.maintenance import Maintenance
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.results.results import Timing


class NodePlans(NamedTuple):
    """Plans by node, of those that have one, and how long each node took to compile."""

    plans: dict[str, NodePlan]
    compile_times: dict[str, Timing]


def plan_nodes(
    prepared: Prepared,
    ids: Iterable[str],
    invocation_id: str,
    maintenance: Maintenance | None = None,
    clones: Mapping[str, BuiltNode] | None = None,
    new_branch: str | None = None,
) -> NodePlans:
    """Plan nodes to run; with `maintenance`, that of their tables alone.

    With `clones` the plans clone the tables of these, and define views; with `new_branch` they make this branch.

    Raises ProblemsError with the problems of all texts: nothing has run then.
    """
    planner = Planner(prepared, invocation_id)
    problems = Problems()
    with problems.collecting():
        prepared.templates.check()
    plans, times = {}, {}
    for unique_id in ids:
        started = datetime.now(timezone.utc)
        with problems.collecting():
            if maintenance is not None:
                plan = planner.maintenance(unique_id, maintenance)
            elif new_branch is not None:
                plan = planner.branch(unique_id, new_branch)
            else:
                plan = planner.plan(unique_id) if clones is None else planner.clone(unique_id, clones)
            if plan is not None:
                plans[unique_id] = plan
        times[unique_id] = Timing("compile", started, datetime.now(timezone.utc))
    problems.check()
    runs = maintenance is None and clones is None and new_branch is None
    return NodePlans(with_shared_inputs(prepared, plans) if runs else plans, times)
