"""Which node may start next: the policy of the scheduler, without threads and without a clock.

A node is ready when all of its parents are done. Of those that are ready the most urgent starts first, unless it
writes what a running one writes: then it waits until that one has ended.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Skip:
    """A node that will not run, and the failed node that is to blame."""

    node: str
    cause: str


class ReadyQueue:
    """The nodes of a run from the first to the last.

    `parents` gives the parents of each node, only nodes of this run; smaller priorities start first, then those that
    were ready first; `writes` is what a node writes: two nodes with the same never run concurrently. The caller calls
    `start` for the next one, and `finish` for each that has ended.
    """

    def __init__(
        self, parents: Mapping[str, Collection[str]], priority: Mapping[str, Any], writes: Mapping[str, Hashable]
    ) -> None:
        self._priority = priority
        self._writes = writes
        self._waits_for = {node: len(those) for node, those in parents.items()}
        self._children: dict[str, list[str]] = {node: [] for node in parents}
        for node, those in parents.items():
            for parent in those:
                self._children[parent].append(node)
        self._ready: list[tuple[Any, int, str]] = []
        self._arrival = 0
        self._aside: dict[Hashable, list[str]] = {}
        self._busy: set[Hashable] = set()
        self._open = dict.fromkeys(parents)
        for node, count in self._waits_for.items():
            if count == 0:
                self._push(node)

    @property
    def open(self) -> Collection[str]:
        """The nodes that have neither started nor been skipped, in the order in which they were given."""
        return self._open.keys()

    def start(self) -> str | None:
        """The node to start now; None: nothing can start before something else has ended."""
        while self._ready:
            node = heapq.heappop(self._ready)[2]
            target = self._writes.get(node)
            if target is not None:
                if target in self._busy:
                    self._aside.setdefault(target, []).append(node)
                    continue
                self._busy.add(target)
            del self._open[node]
            return node
        return None

    def finish(self, node: str, is_passed: bool) -> list[Skip]:
        """A node has ended; gives its descendants where it failed, for they are skipped then."""
        target = self._writes.get(node)
        if target is not None:
            self._busy.discard(target)
            for other in self._aside.pop(target, ()):
                self._push(other)
        if not is_passed:
            return list(self._skip_descendants(node))
        for child in self._children[node]:
            self._waits_for[child] -= 1
            if self._waits_for[child] == 0 and child in self._open:
                self._push(child)
        return []

    def _skip_descendants(self, failed: str) -> Iterator[Skip]:
        stack = list(reversed(self._children[failed]))
        while stack:
            node = stack.pop()
            if node in self._open:
                del self._open[node]
                yield Skip(node, failed)
                stack.extend(reversed(self._children[node]))

    def _push(self, node: str) -> None:
        self._arrival += 1
        heapq.heappush(self._ready, (self._priority.get(node, 0), self._arrival, node))
