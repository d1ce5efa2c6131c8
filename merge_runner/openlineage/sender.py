"""Sends events from a separate thread, so that a run neither waits for them nor fails with them."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from merge_runner.openlineage.transport import Transport

Item = Any
_END = object()
_LIMIT = 10_000
"""Items that may wait: some 30 MB. More are dropped, and counted."""
_TRIES = 3
"""After so many failures in a row nothing more is sent: a server that does not answer takes its timeout each time."""


class Sender:
    """A bounded queue with a thread that makes events of its items and sends them.

    `make` returns the events of an item. `warn` is called at most twice: for the first failure, and at the end for what
    was not sent.
    """

    def __init__(
        self,
        connect: Callable[[], Transport],
        make: Callable[[Item], Iterable[Mapping[str, Any]]],
        warn: Callable[[str], None],
        limit: int = _LIMIT,
    ) -> None:
        self._connect, self._make, self._warn = connect, make, warn
        self._queue: queue.Queue[Item] = queue.Queue(limit)
        self._unsent = 0
        self._failures = 0
        self._thread = threading.Thread(target=self._work, name="openlineage", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """Hand over an item; where the queue is full it is dropped."""
        try:
            self._queue.put_nowait(item)
        except queue.Full:
            self._unsent += 1

    def close(self, seconds: float) -> None:
        """Send what waits, for so many seconds at most."""
        end = time.monotonic() + seconds
        with suppress(queue.Full):
            self._queue.put(_END, timeout=seconds)
            self._thread.join(max(0.0, end - time.monotonic()))
        # A transport that hangs is left behind: the thread is a daemon, and ends with the process.
        left = self._unsent + (self._queue.qsize() if self._thread.is_alive() else 0)
        if left:
            self._warn(f"{left} event{'' if left == 1 else 's'} could not be sent")

    def _work(self) -> None:
        transport: Transport | None = None
        while (item := self._queue.get()) is not _END:
            if self._failures >= _TRIES:
                self._unsent += 1
                continue
            try:
                if transport is None:
                    transport = self._connect()
                for event in self._make(item):
                    transport.send(event)
                self._failures = 0
            except ModuleNotFoundError:
                self._unsent += 1
                self._failures = _TRIES
                self._warn("the client is not installed: pip install 'merge-runner[openlineage]'")
            except Exception as error:  # whatever a transport raises, the run goes on
                self._unsent += 1
                self._failures += 1
                if self._failures == 1:
                    self._warn(f"{type(error).__name__}: {error}")
        if transport is not None:
            transport.close(1.0)
