"""Caches expensive inputs that several nodes of one invocation read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from merge_runner.graph.graph import SourceNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import AttachInputs, ShareInputs
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import DefineView
from merge_runner.pruning.runtime_filter.source_determinism import reads_row_by_row
from merge_runner.relation import Relation

_TEXT_FORMATS = ("csv", "json", "text", "xml")
"""Files that are parsed from their first to their last character by everyone who reads them."""


def with_shared_inputs(prepared: Prepared, plans: Mapping[str, NodePlan]) -> dict[str, NodePlan]:
    """The plans with a step that shares inputs, where another plan reads them too.

    Text files are expensive, and so are views that read them, or that join, group, number or combine rows. A table with
    columns and statistics is read faster than it is cached.
    """
    sharing = _Sharing(prepared)
    readers: dict[str, list[str]] = {}
    for unique_id, plan in plans.items():
        if not any(isinstance(step, DefineView) for step in plan.steps):  # which reads nothing yet
            for parent in dict.fromkeys(sharing.read_by(unique_id)):
                readers.setdefault(parent, []).append(unique_id)
    shared = {parent: nodes for parent, nodes in readers.items() if len(nodes) > 1 and sharing.is_expensive(parent)}
    plans_with_step = dict(plans)
    for unique_id, plan in plans.items():
        own = {sharing.relation(parent): tuple(nodes) for parent, nodes in shared.items() if unique_id in nodes}
        if own:
            plans_with_step[unique_id] = _with_step(plan, own)
    return plans_with_step


def _with_step(plan: NodePlan, shared: Mapping[Relation, tuple[str, ...]]) -> NodePlan:
    """The plan with a step that shares inputs after the one that attaches them; likewise that of its first run."""
    steps: list[Step] = []
    for step in plan.steps:
        steps.append(step)
        if isinstance(step, AttachInputs):
            attached = {item.relation for item in step.inputs}
            own = {relation: nodes for relation, nodes in shared.items() if relation in attached}
            steps += [ShareInputs(own)] if own else []
    first = plan.first_run
    return replace(
        plan,
        steps=tuple(steps),
        first_run=replace(first, plan=_with_step(first.plan, shared)) if first is not None else None,
    )


class _Sharing:
    """What nodes read, and what that costs."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._nodes = prepared.graph.nodes
        self._expensive: dict[str, bool] = {}

    def relation(self, unique_id: str) -> Relation:
        relation = self._nodes[unique_id].relation
        if relation is None:
            raise LookupError(unique_id)
        return relation

    def read_by(self, unique_id: str) -> Iterator[str]:
        """Yield the sources and views that the SQL of a node reads, those of ephemeral models included."""
        for parent in self._nodes[unique_id].depends_on:
            node = self._nodes.get(parent)
            if node is None or parent in self._prepared.deferral.ids:
                continue
            if node.materialized == "ephemeral":
                yield from self.read_by(parent)
            elif isinstance(node, SourceNode) or node.materialized == "view":
                yield parent

    def is_expensive(self, unique_id: str) -> bool:
        """Whether reading a source or view costs more than reading what was kept of it."""
        if unique_id not in self._expensive:
            node = self._nodes[unique_id]
            if isinstance(node, SourceNode):
                table = node.config
                files = table.path is not None and table.stream is None  # a batch of a stream is kept anyway
                self._expensive[unique_id] = files and table.format in _TEXT_FORMATS
            else:
                text = self._prepared.compiler.render(unique_id).text
                self._expensive[unique_id] = not reads_row_by_row(text) or any(
                    map(self.is_expensive, self.read_by(unique_id))
                )
        return self._expensive[unique_id]
