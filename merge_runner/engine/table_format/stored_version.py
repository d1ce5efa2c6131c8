"""The version of a table, as its files on a local disk have it before any engine runs, or as an engine says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StoredVersion:
    """A commit that may have changed rows or columns: compaction and removed files do not count.

    `version` is the version (Delta) or the id of the snapshot (Iceberg; -1: there is none), `identity` a text that no
    other commit of any table has. `stamp` is what the commit carries (commit_metadata.py).
    """

    version: int
    identity: str
    stamp: str | None
