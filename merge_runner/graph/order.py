"""The order in which nodes can run: levels, the DAG of a selection, and who goes first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite
from statistics import median
from typing import TYPE_CHECKING

from merge_runner.graph.graph import Dag, DataTestNode, Graph, Node

if TYPE_CHECKING:
    import networkx as nx


def topological(graph: Graph, ids: Iterable[str] | None = None) -> list[str]:
    """Return the ids (None: all), parents before children; among nodes that are free together, by level, then by id."""
    return [unique_id for level in levels(graph, ids) for unique_id in level]


def levels(graph: Graph, ids: Iterable[str] | None = None) -> list[list[str]]:
    """The ids (None: all) in levels: a node's level is the number of nodes on the longest path that ends in it.

    All nodes of one level are independent and sorted by id. Over a selection, paths lead through unselected nodes,
    which do not count: a parent is never on the level of a node that it reaches.
    """
    return levels_of(graph.dag, ids)


def levels_of(dag: Dag | nx.DiGraph[str], ids: Iterable[str] | None = None) -> list[list[str]]:
    """Return what `levels` does, of other edges than those of a graph."""
    selected = dag.pred.keys() if ids is None else set(ids)
    depth: dict[str, int] = {}
    by_level: dict[int, list[str]] = {}
    for node in parents_first(dag):
        depth[node] = max((depth[parent] for parent in dag.pred[node]), default=0)
        if node in selected:
            depth[node] += 1
            by_level.setdefault(depth[node], []).append(node)
    return [sorted(by_level[level]) for level in sorted(by_level)]


def contracted(graph: Graph, ids: Iterable[str]) -> nx.DiGraph[str]:
    """The DAG over `ids` alone: one selected node reaches another in it exactly if it does so in the graph.

    Edges between selected nodes stay. A path through unselected nodes becomes an edge, unless other edges say the same
    already: on a large graph the edges of all such paths would be many millions.
    """
    import networkx as nx  # loading it takes longer than many a command

    selected = set(ids)
    bits = {node: 1 << index for index, node in enumerate(sorted(selected))}
    above: dict[str, int] = {}  # the selected ancestors of a selected node, as a set of bits
    nearest: dict[str, set[str]] = {}  # for an unselected node: the selected ones above it that no other one covers
    result: nx.DiGraph[str] = nx.DiGraph()
    result.add_nodes_from(sorted(selected))
    for node in parents_first(graph.dag):
        direct = [parent for parent in graph.dag.pred[node] if parent in selected]
        reached = set(direct).union(*(nearest[parent] for parent in graph.dag.pred[node] if parent not in selected))
        covered = 0
        for parent in reached:
            covered |= above[parent]
        uncovered = {parent for parent in reached if not covered & bits[parent]}
        if node not in selected:
            nearest[node] = uncovered
            continue
        result.add_edges_from((parent, node) for parent in sorted(uncovered.union(direct)))
        for parent in uncovered:
            covered |= bits[parent]
        above[node] = covered
    return result


def unit_tests_first(dag: nx.DiGraph[str], unit_tests: Collection[str]) -> nx.DiGraph[str]:
    """The DAG with every unit test in front of the model that it tests, and of nothing else: it reads no table."""
    turned = dag.copy()
    for test in unit_tests:
        models = list(turned.pred[test])
        turned.remove_edges_from([(model, test) for model in models])
        turned.add_edges_from((test, model) for model in models)
    return turned


def priorities(
    dag: nx.DiGraph[str], durations: Mapping[str, float], own: Mapping[str, int]
) -> dict[str, tuple[int, float, int, str]]:
    """For each node a key: of those that are ready, the one with the smallest key starts first.

    A higher `own` priority (of config) wins, and pulls the ancestors along, since the node waits for them. Then comes
    the longest remaining path in seconds by `durations` of earlier runs (a node without one counts as the median of
    those with one), then the number of nodes on the longest remaining path, then the id.
    """
    known_durations = {
        node: durations[node] for node in dag if isfinite(durations.get(node, -1)) and durations.get(node, -1) >= 0
    }
    usual = median(known_durations.values()) if known_durations else 0.0
    urgency: dict[str, int | None] = {}
    seconds: dict[str, float] = {}
    depth: dict[str, int] = {}
    for node in reversed(parents_first(dag)):
        children = dag.succ[node]
        set_ones = [urgency[child] for child in children] + [own.get(node)]
        urgency[node] = max((value for value in set_ones if value is not None), default=None)
        seconds[node] = known_durations.get(node, usual) + max((seconds[child] for child in children), default=0.0)
        depth[node] = 1 + max((depth[child] for child in children), default=0)
    return {
        node: (-_effective(own.get(node), urgency[node]), -seconds[node], -depth[node], node) for node in sorted(dag)
    }


def _effective(own: int | None, urgency: int | None) -> int:
    """Return the priority that counts: a node without one has 0, and a low child does not push it below that."""
    return max(0, urgency or 0) if own is None else urgency or 0


def parents_first(dag: Dag | nx.DiGraph[str]) -> list[str]:
    """All nodes of the DAG, each after its parents; those on a cycle, and below it, are left out."""
    waiting = {node: len(parents) for node, parents in dag.pred.items()}
    ready = [node for node, parents in waiting.items() if not parents]
    for node in ready:  # grows while it is walked
        for child in dag.succ[node]:
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return ready


def near_parents(dag: Dag, ids: Sequence[str]) -> list[str]:
    """Return the ids, each after the first of its parents among them, with siblings and what is below them between."""
    selected = set(ids)
    below: dict[str | None, list[str]] = {}
    for unique_id in ids:
        first = next((parent for parent in dag.pred[unique_id] if parent in selected), None)
        below.setdefault(first, []).append(unique_id)
    ordered: list[str] = []
    todo = below.get(None, [])[::-1]
    while todo:
        unique_id = todo.pop()
        ordered.append(unique_id)
        todo += below.get(unique_id, [])[::-1]
    return ordered


def relatives(neighbours: Mapping[str, Collection[str]], ids: Iterable[str], steps: float) -> set[str]:
    """The ids and everything within `steps` edges (`math.inf`: any number) in one direction of the DAG.

    `neighbours` is `dag.pred` for ancestors, `dag.succ` for descendants.
    """
    reached = set(ids)
    border = set(reached)
    while border and steps > 0:
        border = {neighbour for node in border for neighbour in neighbours[node]} - reached
        reached |= border
        steps -= 1
    return reached


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


def _below_all(dag: nx.DiGraph[str], node: str, parents: set[str], above: dict[str, set[str]]) -> bool:
    if parents <= set(dag.pred[node]):
        return True
    import networkx as nx

    if node not in above:
        above[node] = nx.ancestors(dag, node)
    return parents <= above[node]
