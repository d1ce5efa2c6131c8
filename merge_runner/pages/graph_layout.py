"""Where the nodes of a DAG are drawn: in columns by level, in an order within each that lets few edges cross.

A level is a longest path, an order is found by sweeps over the medians of neighbours (Sugiyama, Tagawa and Toda 1981;
Gansner et al. 1993), with a bend in every level that an edge passes. Time: edges times sweeps.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence

_SWEEPS = 12
_MOST_BENDS = 60_000
"""Bends that are ordered with the nodes: of a graph with more, edges over several levels count at their ends alone."""


def layout(parents: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the level and the place in it, from 0, of each node of a DAG, by the numbers of its parents.

    The same graph gives the same layout. Edges lead from a lower level to a higher one.
    """
    level = levels(parents)
    columns, above, below = _add_bends(parents, level)
    best, fewest = [list(column) for column in columns], crossings(columns, below)
    places = _places(columns)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for column in columns[1:] if down else columns[-2::-1]:
            _order(column, above if down else below, places)
            places.update(_places([column]))
        count = crossings(columns, below)
        if count < fewest:
            best, fewest = [list(column) for column in columns], count
    place = {node: number for column in best for number, node in enumerate(n for n in column if n < len(parents))}
    return [(level[node], place[node]) for node in range(len(parents))]


def levels(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return the level of each node: the longest path to it; what has no parents is next to its first child."""
    children: list[list[int]] = [[] for _ in parents]
    for node, node_parents in enumerate(parents):
        for parent in node_parents:
            children[parent].append(node)
    level = [0] * len(parents)
    waiting = [len(node_parents) for node_parents in parents]
    ready = [node for node, count in enumerate(waiting) if not count]
    for node in ready:  # grows while it is walked
        for child in children[node]:
            level[child] = max(level[child], level[node] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    for node, node_parents in enumerate(parents):
        if not node_parents and children[node]:
            level[node] = min(level[child] for child in children[node]) - 1
    return level


def crossings(columns: Sequence[Sequence[int]], below: Mapping[int, Sequence[int]]) -> int:
    """Return how many edges between one column and the next cross."""
    total = 0
    places = _places(columns)
    for number, column in enumerate(columns[:-1]):
        following = set(columns[number + 1])
        seen: list[float] = []
        for node in column:
            ends = sorted(places[child] for child in below.get(node, ()) if child in following)
            total += sum(len(seen) - _up_to(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _up_to(ends: list[float], end: float) -> int:
    return bisect_left(ends, end + 1e-12)


def _add_bends(
    parents: Sequence[Sequence[int]], level: Sequence[int]
) -> tuple[list[list[int]], dict[int, list[int]], dict[int, list[int]]]:
    """The nodes and bends by level, and the neighbours of each in the levels above and below."""
    columns: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for node, at in enumerate(level):
        columns[at].append(node)
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    bend = len(parents)
    bends = sum(level[node] - level[parent] - 1 for node, node_parents in enumerate(parents) for parent in node_parents)
    for node, node_parents in enumerate(parents):
        for parent in node_parents:
            last = parent
            for at in range(level[parent] + 1, level[node]) if bends <= _MOST_BENDS else ():
                columns[at].append(bend)
                above.setdefault(bend, []).append(last)
                below.setdefault(last, []).append(bend)
                last, bend = bend, bend + 1
            above.setdefault(node, []).append(last)
            below.setdefault(last, []).append(node)
    return columns, above, below


def _places(columns: Sequence[Sequence[int]]) -> dict[int, float]:
    """Where each node is in its column, from 0 to 1: columns of different lengths are compared."""
    return {node: (number + 0.5) / len(column) for column in columns for number, node in enumerate(column)}


def _order(column: list[int], neighbours: Mapping[int, Sequence[int]], places: Mapping[int, float]) -> None:
    """Sort a column by the medians of its nodes' neighbours; a node without any stays where it is."""
    key = {
        node: _median([places[neighbour] for neighbour in neighbours.get(node, ())], places[node]) for node in column
    }
    column.sort(key=key.__getitem__)


def _median(values: list[float], otherwise: float) -> float:
    if not values:
        return otherwise
    values.sort()
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
