"""How much one rendering may do before it counts as endless."""

from __future__ import annotations

import time

MAX_CHARACTERS = 10_000_000
"""Of the rendered text, and of any value on the way to it."""
MAX_STEPS = 1_000_000
"""Loop iterations and macro calls."""
MAX_SECONDS = 20.0
MAX_DEPTH = 80
"""Macros inside macros. Each takes about ten frames of Python's stack."""
MAX_BUILT = 100_000_000
"""Of all texts and lists together that one rendering reads and builds on its way."""


class LimitError(Exception):
    """A rendering went over a limit; the message says which."""


class Limits:
    """Counts what one rendering does. The clock only stops a rendering; no text depends on it."""

    def __init__(self) -> None:
        self._steps = 0
        self._built = 0
        self._deadline = time.monotonic() + MAX_SECONDS

    def step(self) -> None:
        """Counts a loop iteration or a macro call; raises LimitError."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise LimitError(f"rendering takes more than {MAX_STEPS:,} steps; is there an endless loop?")
        if time.monotonic() > self._deadline:
            raise LimitError(f"rendering takes more than {MAX_SECONDS:.0f} seconds; is there an endless loop?")

    def waited(self, seconds: float) -> None:
        """Leave out the time that a statement of an operation took: it is the engine's."""
        self._deadline += seconds

    def build(self, size: int) -> None:
        """Counts the characters or items of a value that is about to be built; raises LimitError."""
        check_size(size)
        self.work(size)

    def work(self, size: int) -> None:
        """Counts what is read of a value to make another one; raises LimitError."""
        if time.monotonic() > self._deadline:
            raise LimitError(f"rendering takes more than {MAX_SECONDS:.0f} seconds; is there an endless loop?")
        self._built += size
        if self._built > MAX_BUILT:
            raise LimitError(f"rendering builds texts and lists of more than {MAX_BUILT:,} characters or items in all")


def check_size(characters: int) -> None:
    """Raises LimitError for a text or list longer than a rendering may build."""
    if characters > MAX_CHARACTERS:
        raise LimitError(f"rendering builds a text or list of more than {MAX_CHARACTERS:,} characters or items")
