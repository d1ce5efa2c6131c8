"""What a running engine says of a MERGE that it does not run (`explain --spark`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TargetFiles:
    """How many files the target has, and how many of them the MERGE would read; None: it cannot be told."""

    total: int
    read: int | None

    def __str__(self) -> str:
        read = "it cannot be told how many" if self.read is None else f"{self.read:,}"
        return f"files of the target that it would read: {read} of {self.total:,}"


@dataclass(frozen=True)
class EngineTold:
    """The engine's own plan of a MERGE, and the files of its target. `notes` say why something is not told.

    `error` is why the engine refuses the statement, with its place in the author's file.
    """

    plan: str | None = None
    files: TargetFiles | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None

    def lines(self) -> list[str]:
        """All of it as text."""
        found = f"error: {self.error}".splitlines() if self.error is not None else []
        found += [str(self.files)] if self.files is not None else []
        found += self.notes
        if self.plan is not None:
            found += ["the engine's plan:", *(f"  {line}".rstrip() for line in self.plan.strip().splitlines())]
        return found


def told_as_json(told: EngineTold | None) -> dict[str, Any]:
    """The keys that `explain --spark` adds to a node; None where it has no MERGE."""
    told = told or EngineTold()
    files = {"total": told.files.total, "read": told.files.read} if told.files is not None else None
    return {"spark_plan": told.plan, "files": files, "spark_notes": list(told.notes), "spark_error": told.error}
