"""One difference between a table and what the project declares of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Drift:
    """A difference as text, and the statements that resolve it, in order, without writing a row.

    No statement: it stays as it is, and the words say why. `violating` is a query of how many rows keep it from being
    altered: with any nothing is done. `undo` brings back what was, where a statement after the first is refused.
    `done` is how it reads once it is altered, None: as `words`. `missing` are the columns that the table lacks.
    """

    words: str
    remedy: tuple[str, ...] = ()
    violating: str | None = None
    undo: str | None = None
    done: str | None = None
    missing: tuple[str, ...] = ()
