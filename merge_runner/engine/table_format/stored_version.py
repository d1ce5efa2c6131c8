"""The version of a table as its files on a local disk have it: what is known of it before any engine runs."""

from __future__ import annotations

from dataclasses import dataclass

Partition = tuple[tuple[str, str | None], ...]
"""The columns by which a table is partitioned, with their values as texts, in the order of their names."""


@dataclass(frozen=True)
class StoredVersion:
    """A commit that may have changed rows or columns: compaction and removed files do not count.

    `version` is the version (Delta) or the id of the snapshot (Iceberg; -1: there is none), `identity` a text that no
    other commit of any table has. `stamp` is what the commit carries (commit_metadata.py).
    """

    version: int
    identity: str
    stamp: str | None


@dataclass(frozen=True)
class ChangedFile:
    """A file that one version of a table has more often than another one: `more` times, or less often where negative.

    `path` is absolute, or relative to the folder of the table. All its rows are rows of the table, in the `partition`.
    """

    path: str
    partition: Partition
    more: int


@dataclass(frozen=True)
class ChangedFiles:
    """What commits have changed between two versions of a table, `before` and `after`.

    All changed rows are in the `partitions`; empty: they may be in the whole table. `bytes` are those of the files that
    have to be read in one version to find these rows, at most. The rows of `files` are the difference; None: no files
    are known whose rows are, and the versions have to be read.
    """

    before: int
    after: int
    partitions: frozenset[Partition]
    bytes: int
    files: tuple[ChangedFile, ...] | None = None
