"""When the server collects garbage.

The parts of a loaded project refer to each other, so only a collection of everything frees one that was loaded again:
some 25 MB of 1,000 models. The automatic collections of the command line almost never look at everything.
"""

from __future__ import annotations

import asyncio
import gc

_THRESHOLDS = (50_000, 10, 10)
"""New objects until the collections of the three generations: questions leave cycles, and a collection is short."""
_IDLE = 1.0
"""Seconds without a question about a document after which a project that is no longer needed is freed."""
_MOST = 2
"""Projects that are no longer needed, after which it does not wait for that."""
_SENT = 0.01
"""Seconds until an answer was sent: a collection takes as long as an answer."""


class Garbage:
    """Frees the projects that are no longer needed. What stays is frozen: other collections do not look at it."""

    def __init__(self) -> None:
        self._loads = 0
        self._collected = 1  # there is none before the first project
        self._due: asyncio.TimerHandle | None = None

    def first_answer(self) -> None:
        """Begin to collect: until now nothing was garbage, and all that was made stays."""
        if gc.isenabled():
            return
        gc.set_threshold(*_THRESHOLDS)
        gc.freeze()
        gc.enable()

    def answered(self, loads: int) -> None:
        """Collect in time where projects have been loaded since the last time; `loads` counts how often any was."""
        self._loads = loads
        if self._due is not None:
            self._due.cancel()
        if loads > self._collected:
            pause = _IDLE if loads - self._collected < _MOST else _SENT
            self._due = asyncio.get_running_loop().call_later(pause, self._collect)

    def _collect(self) -> None:
        self._due, self._collected = None, self._loads
        gc.unfreeze()  # a project that is no longer needed may be among what was frozen
        gc.collect()
        gc.freeze()
