"""What each node of a run waits for: its parents in the DAG, and the tests of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.graph.graph import DataTestNode, Node

if TYPE_CHECKING:
    import networkx as nx


def parents_with_tests(nodes: Mapping[str, Node], dag: nx.DiGraph[str]) -> dict[str, set[str]]:
    """Parents of every node; a node also waits for the tests of its parents, so that bad rows do not travel on.

    A test of several nodes is waited for below all of them: a node below one alone may be what another one needs.
    """
    parents = {node: set(dag.pred[node]) for node in dag}
    above: dict[str, set[str]] = {}
    for test in dag:
        if not isinstance(nodes[test], DataTestNode):
            continue
        tested = set(dag.pred[test])
        for child in {child for parent in tested for child in dag.succ[parent]}:
            if not isinstance(nodes[child], DataTestNode) and _below_all(dag, child, tested, above):
                parents[child].add(test)
    return parents


def _below_all(dag: nx.DiGraph[str], node: str, others: set[str], above: dict[str, set[str]]) -> bool:
    if others <= set(dag.pred[node]):
        return True
    import networkx as nx

    if node not in above:
        above[node] = nx.ancestors(dag, node)
    return others <= above[node]
