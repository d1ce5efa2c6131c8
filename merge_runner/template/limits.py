"""How much one rendering may do before it counts as endless."""

from __future__ import annotations

import time
from typing import Any

MAX_CHARACTERS = 10_000_000
"""Of the rendered text, and of any value on the way to it."""
MAX_STEPS = 1_000_000
"""Loop iterations and macro calls."""
MAX_SECONDS = 20.0
MAX_DEPTH = 80
"""Macros inside macros. Each takes about ten frames of Python's stack."""
_MAX_POWER_BITS = 100_000


class LimitError(Exception):
    """A rendering went over a limit; the message says which."""


class Limits:
    """Counts what one rendering does. The clock only stops a rendering; no text depends on it."""

    def __init__(self) -> None:
        self._steps = 0
        self._deadline = time.monotonic() + MAX_SECONDS

    def step(self) -> None:
        """Counts a loop iteration or a macro call; raises LimitError."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise LimitError(f"rendering takes more than {MAX_STEPS:,} steps; is there an endless loop?")
        if time.monotonic() > self._deadline:
            raise LimitError(f"rendering takes more than {MAX_SECONDS:.0f} seconds; is there an endless loop?")


def check_size(characters: int) -> None:
    """Raises LimitError for a text or list longer than a rendering may build."""
    if characters > MAX_CHARACTERS:
        raise LimitError(f"rendering builds a text or list of more than {MAX_CHARACTERS:,} characters or items")


def check_operation(operator: str, left: Any, right: Any) -> None:
    """Raises LimitError before `left operator right` would fill the memory."""
    sized = (str, bytes, list, tuple)
    if operator == "+" and isinstance(left, sized) and isinstance(right, sized):
        check_size(len(left) + len(right))
    elif operator == "*" and isinstance(left, sized) and isinstance(right, int):
        check_size(len(left) * right)
    elif operator == "*" and isinstance(right, sized) and isinstance(left, int):
        check_size(len(right) * left)
    elif (
        operator == "**"
        and isinstance(left, int)
        and isinstance(right, int)
        and left.bit_length() * right > _MAX_POWER_BITS
    ):
        raise LimitError(f"a power of more than {_MAX_POWER_BITS:,} bits")
