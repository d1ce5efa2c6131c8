"""Which column of the target an assignment of SET or INSERT writes."""

from __future__ import annotations

from merge_runner.merge.statement import Assignment
from merge_runner.pruning.scope import Scope

Path = tuple[str, ...]


def assigned(assignment: Assignment, scope: Scope) -> Path:
    """The column, and the fields of structs below it, case folded and without the target's alias or name."""
    found = scope.resolve(assignment.column)
    # Only the target's columns can be written: what looks like the source's alias is a struct.
    path = found.path if found.side == "target" else assignment.column
    return tuple(part.casefold() for part in path)


def overlap(one: Path, other: Path) -> bool:
    """Whether writing one also writes the other: they are the same, or one is a field of the other."""
    return all(first == second for first, second in zip(one, other, strict=False))
