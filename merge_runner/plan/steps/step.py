"""What all steps are."""

from __future__ import annotations


class Step:
    """One step of a node: a frozen dataclass, whose text is the line that `explain` prints.

    The function that performs it is in `FUNCTIONS` of engine/steps/perform.py.
    """
