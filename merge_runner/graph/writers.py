"""Models that write one table: those that replace it, and MERGEs without an order between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations

from merge_runner.errors import Problems
from merge_runner.graph.graph import Graph, ModelNode, Node, RefNode, nodes_of
from merge_runner.graph.order import relatives


def unordered_writers(graph: Graph) -> Iterator[tuple[ModelNode, ModelNode]]:
    """Pairs of merge models with one table of which neither reaches the other in the DAG, by id."""
    writers: dict[str, list[str]] = {}
    for node in nodes_of(graph.nodes, ModelNode):
        if node.materialized == "merge" and node.relation is not None:
            writers.setdefault(node.relation.name.casefold(), []).append(node.unique_id)
    for ids in sorted(sorted(ids) for ids in writers.values() if len(ids) > 1):
        nodes = [graph.model(unique_id) for unique_id in ids]
        above = {node.unique_id: relatives(graph.dag.pred, [node.unique_id], math.inf) for node in nodes}
        for first, second in combinations(nodes, 2):
            ordered = first.unique_id in above[second.unique_id] or second.unique_id in above[first.unique_id]
            if not ordered:
                yield first, second


def other_writers(nodes: Mapping[str, Node], node: RefNode) -> list[RefNode]:
    """Return the other nodes that write the table of a node."""
    name = node.relation.name.casefold() if node.relation is not None else None
    return [
        other
        for other in nodes_of(nodes, RefNode)
        if other.unique_id != node.unique_id and other.relation is not None and other.relation.name.casefold() == name
    ]


def check_tables(nodes: Mapping[str, Node], problems: Problems) -> None:
    """Add a problem for each table that two nodes replace; several MERGEs may write one."""
    first: dict[str, Node] = {}
    for node in nodes.values():
        if not isinstance(node, RefNode) or node.materialized == "ephemeral" or node.relation is None:
            continue
        first_writer = first.setdefault(node.relation.name.casefold(), node)
        if first_writer is not node and not node.materialized == first_writer.materialized == "merge":
            message = f"{node.name} is the table {node.relation.name}, and so is {first_writer.name}"
            hint = f"give one of them another alias or schema; {first_writer.name} is in {first_writer.path}"
            problems.add("shared-table", message, node.place, hint)
