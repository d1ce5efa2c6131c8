"""The DAG of nodes, and which cycle to show where their references are no DAG."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from merge_runner.errors import Problems
from merge_runner.graph.graph import Dag, Node
from merge_runner.graph.order import parents_first


def find_cycle(edges: Iterable[tuple[str, str]]) -> list[str] | None:
    """A shortest cycle of the graph that `edges` (parent, child) span, or None where there is none.

    Each name appears once, in the direction of the edges, the alphabetically first name first. Of several shortest
    cycles it is the same one whatever the order of `edges`.
    """
    children: dict[str, set[str]] = {}
    parents: dict[str, set[str]] = {}
    for parent, child in edges:
        for name in (parent, child):
            children.setdefault(name, set())
            parents.setdefault(name, set())
        children[parent].add(child)
        parents[child].add(parent)
    loops = [name for name in children if name in children[name]]
    if loops:
        return [min(loops)]
    _drop([name for name in children if not children[name] or not parents[name]], children, parents)
    best: list[str] | None = None
    for start in sorted(children):
        if best is not None and len(best) == 2:
            break
        if start in children:
            best = _shorter_through(start, children, best) or best
            _drop([start], children, parents)  # every further cycle avoids it
    return best


def cycle_path(names: Iterable[str]) -> str:
    """The cycle as people read it: `a -> b -> a`, given each of its names once."""
    names = list(names)
    return " -> ".join([*names, *names[:1]])


def _drop(names: Iterable[str], children: dict[str, set[str]], parents: dict[str, set[str]]) -> None:
    """Takes names out of the graph, and with them all that are then on no cycle, for want of a parent or a child."""
    pending = list(names)
    while pending:
        name = pending.pop()
        for forward, backward in ((children, parents), (parents, children)):
            for neighbour in forward.pop(name, ()):
                backward[neighbour].discard(name)
                if not backward[neighbour]:
                    pending.append(neighbour)


def _shorter_through(start: str, children: Mapping[str, set[str]], best: list[str] | None) -> list[str] | None:
    """A shortest cycle through `start`, or None where there is none that is shorter than `best`."""
    came_from: dict[str, str] = {}
    length = {start: 1}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        if best is not None and length[name] >= len(best):
            return None
        for child in sorted(children[name]):
            if child == start:
                return _path_to(name, came_from)
            if child not in length:
                length[child] = length[name] + 1
                came_from[child] = name
                queue.append(child)
    return None


def _path_to(name: str, came_from: Mapping[str, str]) -> list[str]:
    path = [name]
    while path[-1] in came_from:
        path.append(came_from[path[-1]])
    return path[::-1]


def dag_of(nodes: Mapping[str, Node], problems: Problems) -> Dag:
    """Return the DAG of the nodes. Raises ProblemsError where it is none."""
    dag = Dag({unique_id: node.depends_on for unique_id, node in nodes.items()})
    check_acyclic(dag, nodes, problems)
    return dag


def check_acyclic(dag: Dag, nodes: Mapping[str, Node], problems: Problems) -> None:
    """Raise ProblemsError, with a circle of nodes, where there is one."""
    if len(parents_first(dag)) < len(dag.pred):
        import networkx as nx  # loading it takes longer than many a command

        edges: nx.DiGraph[str] = nx.DiGraph()
        edges.add_nodes_from(dag.pred)
        edges.add_edges_from(dag.edges)
        for circle in nx.strongly_connected_components(edges):
            _add_cycle(nodes, problems, edges.subgraph(circle).edges)
        problems.check()


def _add_cycle(nodes: Mapping[str, Node], problems: Problems, edges: Iterable[tuple[str, str]]) -> None:
    cycle = find_cycle(edges)
    if cycle is not None:
        message = f"models depend on each other in a circle: {cycle_path(nodes[node].name for node in cycle)}"
        hint = "break the circle: one of these refs has to go"
        problems.add("cycle", message, nodes[cycle[0]].place, hint)
