"""What a build would do, without running it: levels, and the steps of each node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from merge_runner.errors import Problems
from merge_runner.graph.order import levels
from merge_runner.plan.compiler import Compiler
from merge_runner.plan.plan import Planner
from merge_runner.plan.prepare import Prepared
from merge_runner.plan.steps import NodePlan, RunTest


@dataclass(frozen=True)
class ExplainedNode:
    """A node and its plan; `merge_class` is that of its MERGE, None where it has none."""

    name: str
    kind: str
    plan: NodePlan
    merge_class: str | None


@dataclass(frozen=True)
class Explanation:
    """The nodes that have something to do, level by level: all nodes of a level could run at once."""

    levels: tuple[tuple[ExplainedNode, ...], ...]

    def lines(self) -> Iterator[str]:
        """The plan as text. Tests are counted under their level, and told in full by the JSON form."""
        for number, level in enumerate(self.levels, start=1):
            models = [node for node in level if not _is_test(node)]
            tests = len(level) - len(models)
            words = [f"{len(models)} side by side"] if models else []
            words += [f"{tests} tests"] if tests else []
            yield f"level {number}: {', '.join(words)}"
            for node in models:
                yield f"  {node.name} ({node.kind}{', ' + node.merge_class if node.merge_class else ''})"
                for step in node.plan.steps:
                    yield f"    {step}"

    def as_json(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {
            "levels": [
                [
                    {
                        "unique_id": node.plan.unique_id,
                        "name": node.name,
                        "kind": node.kind,
                        "class": node.merge_class,
                        "steps": [{"step": type(step).__name__, "text": str(step)} for step in node.plan.steps],
                    }
                    for node in level
                ]
                for level in self.levels
            ]
        }


def explain(prepared: Prepared, ids: Sequence[str]) -> Explanation:
    """The plan of the selected nodes. Raises ProblemsError for texts that cannot be compiled."""
    compiler = Compiler(prepared)
    planner = Planner(prepared, compiler)
    problems = Problems()
    with problems.collecting():
        prepared.templates.check()
    explained: dict[str, ExplainedNode] = {}
    for unique_id in ids:
        with problems.collecting():
            plan = planner.plan(unique_id)
            if plan is not None:
                node = prepared.graph.nodes[unique_id]
                kind = str(node.config["materialized"])
                merge_class = compiler.merge(unique_id).merge_class if kind == "merge" else None
                explained[unique_id] = ExplainedNode(node.name, kind, plan, merge_class)
    problems.check()
    return Explanation(
        tuple(tuple(explained[unique_id] for unique_id in level) for level in levels(prepared.graph, explained))
    )


def _is_test(node: ExplainedNode) -> bool:
    return any(isinstance(step, RunTest) for step in node.plan.steps)
