"""A model by its name."""

from __future__ import annotations

from merge_runner.errors import Problem, ProblemsError, did_you_mean
from merge_runner.graph.graph import Graph, ModelNode


def named_model(graph: Graph, name: str) -> ModelNode:
    """The model of this name. Raises ProblemsError, with the nearest name, where there is none."""
    models = {node.name: node for node in graph.nodes.values() if isinstance(node, ModelNode)}
    if name not in models:
        problem = Problem("unknown-model", f'there is no model "{name}"', hint=did_you_mean(name, models))
        raise ProblemsError([problem])
    return models[name]
