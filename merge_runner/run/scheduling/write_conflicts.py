"""Which nodes may write one table at the same time: none, but for merges that provably touch different partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from merge_runner.graph.graph import Node, run_config
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.pruning.judge.disjoint_writes import are_disjoint, inserts_stay_apart, partition_conditions
from merge_runner.pruning.judge.merge_analysis import JudgedMerge


@dataclass(frozen=True)
class WriteKey:
    """What a node writes: two nodes with equal keys never run concurrently. `group` 0: the table as a whole.

    `table` is its dotted name, folded.
    """

    table: str
    group: int = 0


def write_keys(plans: Mapping[str, NodePlan], nodes: Mapping[str, Node]) -> dict[str, WriteKey]:
    """The key of every node that writes a table.

    Merges of one table are in different groups if all of its writers say `concurrent: true`, and the partition literals
    in ON keep every one of a group apart from every one of another. One that also compacts the table is
    in none, nor is one whose inserts may be in other partitions, where its format would not refuse one of the commits.
    """
    writers: dict[str, list[str]] = {}
    for unique_id, plan in plans.items():
        if plan.writes is not None:
            writers.setdefault(plan.writes.name.casefold(), []).append(unique_id)
    keys: dict[str, WriteKey] = {}
    for table, ids in writers.items():
        merges = {node: _concurrent(plans[node], nodes[node]) for node in ids} if len(ids) > 1 else {}
        apart = {node: merge for node, merge in merges.items() if merge is not None}
        groups = _groups(apart) if len(apart) == len(ids) else dict.fromkeys(ids, 0)
        keys |= {node: WriteKey(table, group) for node, group in groups.items()}
    return keys


def _concurrent(plan: NodePlan, node: Node) -> JudgedMerge | None:
    """The MERGE of a node that may share its table; None where it may not."""
    if not run_config(node).concurrent or any(isinstance(step, OptimizeTable) for step in plan.steps):
        return None
    merge = next((step.judged for step in plan.steps if isinstance(step, RunMerge)), None)
    if len({_on(form) for form in plan.forms}) > 1:
        return None  # which of them runs is known only when the table is asked
    if merge is None or any(clause.kind == "not_matched_by_source" for clause in merge.statement.clauses):
        return None
    return merge if inserts_stay_apart(merge) else None


def _on(plan: NodePlan) -> str | None:
    """The ON of a node's MERGE."""
    statements = (step.judged.statement for step in plan.steps if isinstance(step, RunMerge))
    return next((statement.on_span.of(statement.text) for statement in statements), None)


def _groups(merges: Mapping[str, JudgedMerge]) -> dict[str, int]:
    """Numbers from 1, by node: two that are not provably disjoint have the same, and so have those that each meets."""
    groups = {node: number for number, node in enumerate(merges, 1)}
    conditions = {
        node: partition_conditions(merge.statement.on, merge.scope, merge.layout) for node, merge in merges.items()
    }
    for first, other in combinations(merges, 2):
        if groups[first] != groups[other] and not are_disjoint(conditions[first], conditions[other]):
            group_of_other = groups[other]
            groups = {node: groups[first] if group == group_of_other else group for node, group in groups.items()}
    return groups
