"""How much may still be done for one question: what multiplies with each step ends, whatever a statement is made of."""

from __future__ import annotations


class Budget:
    """A number of steps of which each takes one; `left` is negative once one was refused."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def take(self) -> bool:
        """Return whether another step may be made."""
        self.left -= 1
        return self.left >= 0
