"""What the engine asks of a format whose tables have branches (`has_branches`), and the values of its answers.

Which branch a session writes and reads is a matter of its confs (formats/branches.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.relation import Relation

State = Literal["ahead", "published", "moved"]
"""What publishing a branch would do: `ahead`, main is moved to the branch's newest snapshot; `published`, main has all
that the branch has; `moved`, main has got snapshots since the branch began that the branch does not have."""


@dataclass(frozen=True)
class Branch:
    """A branch of a table: the ids of its newest snapshot and of main's, which is None before its first."""

    table: Relation
    name: str
    head: int
    main: int | None
    state: State


@dataclass(frozen=True)
class ChangedRows:
    """The rows that the snapshot of a MERGE records; None where it does not."""

    inserted: int | None
    updated: int | None
    deleted: int | None


class Branches(Protocol):
    """The branches of the tables of a format. Every method asks the engine and raises EngineError."""

    def heads(self, session: SparkSession, table: Relation) -> Mapping[str, int]:
        """Return the id of the newest snapshot of each branch; `main` is missing where it has none yet."""

    def begin(self, session: SparkSession, table: Relation, branch: str) -> None:
        """Make sure that a session with the branch writes it, and that it begins where main is now, unless it is there.

        Neither moves main.
        """

    def create(self, session: SparkSession, table: Relation, branch: str) -> None:
        """Create a branch where main is now, which statements write that name it by `reference`."""

    def reference(self, table: Relation, branch: str) -> str:
        """Return what names a branch of a table in a statement."""

    def find(self, session: SparkSession, table: Relation, branch: str) -> Branch | None:
        """Return a branch of a table as it is now; None where the table has none of that name."""

    def changed_rows(self, session: SparkSession, table: Relation, snapshot: int) -> ChangedRows:
        """Return what the MERGE did whose snapshot this is."""

    def fast_forward(self, session: SparkSession, branch: Branch) -> None:
        """Move main to the newest snapshot of a branch. Raises EngineError, also where main has moved meanwhile."""

    def drop(self, session: SparkSession, table: Relation, branch: str) -> None:
        """Drop a branch, if it is there; its snapshots go when they expire."""
