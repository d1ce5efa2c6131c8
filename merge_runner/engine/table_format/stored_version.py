"""The version of a table, as its files on a local disk have it before any engine runs, or as an engine says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from merge_runner.engine.table_format.commit_metadata import written_by
from merge_runner.graph.model_text import UNKNOWN

Rows = Literal["kept", "changed", "replaced", "emptied"]
"""What a commit did to the rows of its table; `kept`: it changed columns or properties, or nothing."""
_MOST = 50
"""Commits of one table that are read to count them: in a Delta log each is a file, which takes some 0.3 ms."""


@dataclass(frozen=True)
class StoredVersion:
    """A commit that may have changed rows or columns: compaction and removed files do not count.

    `version` is the version (Delta) or the id of the snapshot (Iceberg; -1: there is none), `identity` a text that no
    other commit of any table has. `stamp` is what the commit carries (commit_metadata.py).
    """

    version: int
    identity: str
    stamp: str | None
    rows: Rows = field(default="changed", compare=False)


def commits_by_text(versions: Iterable[StoredVersion]) -> dict[str, dict[str, int]]:
    """Count the commits of statements that rows of a table may be of: by node, and by the hash of the node's text.

    `versions` are those of the table, newest first, of which the first 50 are read. What is older than the last one
    that replaced all rows does not count. The hash is `UNKNOWN` where a commit does not say it.
    """
    commits: dict[str, Counter[str]] = {}
    for version in islice(versions, _MOST):
        writer = written_by(version.stamp)
        if writer is not None and writer.of is None and version.rows in ("changed", "replaced"):
            commits.setdefault(writer.node, Counter())[writer.text or UNKNOWN] += 1
        if version.rows in ("replaced", "emptied"):
            break
    return {node: dict(by_text) for node, by_text in commits.items()}
