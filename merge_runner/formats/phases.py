"""The phases of a MERGE, by how Delta describes its jobs. An Iceberg MERGE is one plan, whose jobs have no names."""

from __future__ import annotations

_PHASES = (
    ("MERGE operation - materialize source", "source"),
    ("MERGE operation - scanning files for matches", "scan"),
    ("MERGE operation - Rewriting", "rewrite"),
    ("MERGE operation - writing", "rewrite"),
    ("Compute snapshot for version", "read log"),
)
"""What the description of a job holds (ClassicMergeExecutor, InsertOnlyMergeExecutor, MergeIntoCommandBase and Snapshot
of delta-spark 4.4.0). A commit itself runs no job."""


def phase(description: str) -> str | None:
    """The phase that a job belongs to; None where its description says nothing of it."""
    return next((name for text, name in _PHASES if text in description), None)
