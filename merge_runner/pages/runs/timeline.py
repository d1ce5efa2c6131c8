"""Where the time of a run went: lanes of threads, what each node waited for, and the critical path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_CLOSE = 0.05
"""Seconds between the end of one node and the start of the next that are no waiting: threads take turns."""


@dataclass(frozen=True)
class NodeTime:
    """A node that ran: seconds since the run began, the thread, and the nodes that it had to wait for."""

    id: str
    start: float
    end: float
    thread: str
    waits_for: tuple[str, ...] = ()
    is_no_op: bool = False

    @property
    def took_time(self) -> bool:
        """Whether the run was longer for it: a node that had nothing to do can still have looked for it."""
        return not self.is_no_op or self.end - self.start > _CLOSE


@dataclass(frozen=True)
class Position:
    """Where a node is in the timeline. `ready` is when all that it waits for had ended; then it waited for a thread.

    `after` is the node on the critical path that it began after, None for the first one, or where it is not on it;
    `by` says why: a dependency, or that the thread was in use.
    """

    lane: int
    ready: float
    critical: bool = False
    after: str | None = None
    by: str | None = None


def timeline(nodes: Sequence[NodeTime]) -> dict[str, Position]:
    """Return the place of each node. Lanes are threads in the order of their first nodes.

    The critical path is walked back from the last end, each time to that which ended last of what the node waited for
    and what its thread did before: without the path no later thread or dependency would have held it up. A node that
    took no time is not on it, so a run that had nothing to do has none.
    """
    ends = {node.id: node for node in nodes}
    lanes: dict[str, int] = {}
    for node in sorted(nodes, key=lambda node: (node.start, node.id)):
        lanes.setdefault(node.thread, len(lanes))
    first = min((node.start for node in nodes), default=0.0)
    ready = {
        node.id: max((ends[parent].end for parent in node.waits_for if parent in ends), default=first) for node in nodes
    }
    path = _critical(ends, _before(nodes))
    return {
        node.id: Position(
            lanes[node.thread], min(ready[node.id], node.start), node.id in path, *path.get(node.id, (None, None))
        )
        for node in nodes
    }


def _before(nodes: Iterable[NodeTime]) -> dict[str, NodeTime]:
    """The node that the same thread ran before each."""
    predecessors: dict[str, NodeTime] = {}
    last: dict[str, NodeTime] = {}
    for node in sorted(nodes, key=lambda node: (node.start, node.end, node.id)):
        if node.thread in last:
            predecessors[node.id] = last[node.thread]
        last[node.thread] = node
    return predecessors


def _critical(
    nodes: Mapping[str, NodeTime], before: Mapping[str, NodeTime]
) -> dict[str, tuple[str | None, str | None]]:
    """The nodes on the critical path, each with the one that it began after, and why."""
    walk: dict[str, str | None] = {}
    at = max(nodes.values(), key=lambda node: (node.end, node.id), default=None)
    while at is not None and at.id not in walk:
        node = at
        needed = [
            nodes[parent] for parent in node.waits_for if parent in nodes and nodes[parent].end <= node.start + _CLOSE
        ]
        parent = max(needed, key=lambda node: (node.end, node.id), default=None)
        thread = before.get(node.id)
        by: str | None = "dependency"
        at = parent
        if thread is not None and (parent is None or thread.end > parent.end + _CLOSE):
            at, by = thread, "thread"
        walk[node.id] = by
    ids = [unique_id for unique_id in walk if nodes[unique_id].took_time]
    return {
        unique_id: (before_it, walk[unique_id]) if before_it is not None else (None, None)
        for unique_id, before_it in zip(ids, (*ids[1:], None), strict=False)
    }
