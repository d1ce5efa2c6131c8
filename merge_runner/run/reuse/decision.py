"""What is decided of a node before it runs: whether it does, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merge_runner.engine.table_format.stored_version import StoredVersion


@dataclass(frozen=True)
class ReuseDecision:
    """A node that does not run, and `because` of what. `version` is that of its table."""

    version: int | None
    because: str


@dataclass(frozen=True)
class RunDecision:
    """A node that runs, and `because` of what.

    `doubt` says why another run will be needed, whatever this one does; None: that is not known yet.
    The rest is what it is about to read: its fingerprint, the states of its inputs and the version of its table.
    """

    because: str
    doubt: str | None = None
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    before: StoredVersion | None = None
