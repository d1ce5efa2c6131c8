"""What is decided of a node before it runs: whether it does, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merge_runner.engine.merge.changed_partitions import ChangedPartitions
from merge_runner.engine.merge.changed_rows import ConfinedRows
from merge_runner.engine.table_format.stored_version import StoredVersion


@dataclass(frozen=True)
class LeftOut:
    """A node that does not run, and `because` of what. `version` is that of its table."""

    version: int | None
    because: str


@dataclass(frozen=True)
class Changed:
    """A node that runs, and `because` of what.

    `doubt` says why another run will be needed, whatever this one does; None: that is not known yet.
    The rest is what it is about to read: its fingerprint, the states of its inputs, the version of its table, and `at`
    what time (seconds since 1970, UTC).
    """

    because: str
    doubt: str | None = None
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    before: StoredVersion | None = None
    at: float = 0.0
    partitions: ChangedPartitions | ConfinedRows | None = None
    """The only rows that its MERGE needs of its source; None: all."""
    since: Mapping[str, str] | None = None
    """The states of its inputs on which another run would have changed nothing, where only rows of tables have changed
    since: which rows these are may show that it need not run, or needs only some of its source."""
