"""What is selected of a graph."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.errors import Problem


@dataclass(frozen=True)
class Selection:
    """The selected ids, parents before children, and warnings of parts that match nothing."""

    ids: tuple[str, ...]
    warnings: tuple[Problem, ...] = ()
