"""How much work the values of one file of code may take: foreign code can be written so that its values double."""

from __future__ import annotations

MOST_CODE = 500_000
"""Characters of code in a file, or in all cells of a notebook. Python's own syntax tree takes up to 450 bytes for each;
a file of this size is generated."""
MOST_STEPS = 100_000
"""Expressions, names and calls that are looked at for the values of a file. A long notebook takes some thousands; this
many take some seconds."""
MOST_CHARACTERS = 4_000_000
"""Of all texts that are put together for the values of a file. A long notebook takes some 100,000; a character takes
eight bytes and more, since each knows where it came from."""


class OverBudgetError(Exception):
    """The values of a file take too much; the message says what."""


class Budget:
    """Counts the work on one file: code of a few lines can mean texts without end."""

    def __init__(self) -> None:
        self._steps = 0
        self._characters = 0

    def step(self, count: int = 1) -> None:
        """Count expressions that are looked at; raise OverBudgetError."""
        self._steps += count
        if self._steps > MOST_STEPS:
            raise OverBudgetError(f"its values take more than {MOST_STEPS:,} steps")

    def characters(self, count: int) -> None:
        """Count characters that are put together; raise OverBudgetError."""
        self._characters += count
        if self._characters > MOST_CHARACTERS:
            raise OverBudgetError(f"its values are texts of more than {MOST_CHARACTERS:,} characters in all")
