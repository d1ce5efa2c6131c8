"""Announces nodes that take long where no live view shows them: in the log of a CI job."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LONG = 10.0
"""A node is announced once it has run for this many seconds, or when it starts where the last run took as long."""
EVERY = 60.0
"""Seconds between two lines about a node that is running."""
_TICK = 1.0


@dataclass
class _Running:
    name: str
    since: float
    next: float


class Announcer:
    """Which lines are due. `clock` gives seconds, `announce` prints a line: the node's name, and its seconds so far."""

    def __init__(self, announce: Callable[[str, float], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._announce = announce
        self._clock = clock
        self._running: dict[str, _Running] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look once a second, in a thread, until `stop`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="announce", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._over.set()

    def started(self, node: str, name: str, expected: float | None) -> None:
        """Note that a node runs; `expected` is how many seconds it took the last time, None where that is not known."""
        now = self._clock()
        with self._lock:
            self._running[node] = _Running(name, now, now if (expected or 0) >= LONG else now + LONG)
        self.look()

    def finished(self, node: str) -> None:
        """Note that a node has ended."""
        with self._lock:
            self._running.pop(node, None)

    def look(self) -> None:
        """Announce what is due now."""
        for name, seconds in list(self._due()):
            self._announce(name, seconds)

    def _due(self) -> Iterator[tuple[str, float]]:
        now = self._clock()
        with self._lock:
            for node in self._running.values():
                if now >= node.next:
                    seconds = now - node.since
                    # The first line may come after LONG seconds; the others come with whole minutes.
                    node.next = node.since + (seconds // EVERY + 1) * EVERY
                    yield node.name, seconds

    def _watch(self) -> None:
        while not self._over.wait(_TICK):
            self.look()
