"""Whether the MERGE of a batch reads and writes its own part of the table alone, so that others may run meanwhile."""

from __future__ import annotations

from merge_runner.graph.graph import ModelNode
from merge_runner.plan.batches.batch_values import time_type
from merge_runner.plan.batches.window import Window, time_literal
from merge_runner.plan.nodes.own_reads import OwnReads
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.merge import RunHook, RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.pruning.judge.disjoint_writes import inserts_stay_apart, keeps_between

_OTHER_WRITES = (OptimizeTable, RunHook)
"""Steps that may write other parts of the table."""


def keeps_to_window(plan: NodePlan, node: ModelNode, window: Window) -> bool:
    """Whether a MERGE, in all its forms, is restricted to a window by ON, on a partition column of the target.

    Then two MERGEs of different windows read and rewrite different partitions. One that also compacts the table, has
    hooks or an action BY SOURCE, or reads the table in USING, is not.
    """
    return all(_keeps(form, node, window) for form in plan.forms)


def _keeps(plan: NodePlan, node: ModelNode, window: Window) -> bool:
    merges = [step for step in plan.steps if isinstance(step, RunMerge)]
    if len(merges) != 1 or plan.rendered is None or any(isinstance(step, _OTHER_WRITES) for step in plan.steps):
        return False
    judged, event_time = merges[0].judged, node.config.event_time
    if any(clause.kind == "not_matched_by_source" for clause in judged.statement.clauses):
        return False
    if event_time is None or OwnReads.of(judged.statement, plan.rendered).first is not None:
        return False
    type = time_type(node)
    start, end = time_literal(window.start, type), time_literal(window.end, type)
    return keeps_between(judged, event_time, start, end) and inserts_stay_apart(judged)
