"""What a commit to a Delta table did, from the `operationMetrics` of its `commitInfo` (Delta 4.4.0)."""

from __future__ import annotations

from merge_runner.engine.table_format.commit_figures import CommitFigures, Names, recorded_figures
from merge_runner.engine.table_format.protocol import Commit

_ROWS: Names = {
    "inserted": ("numTargetRowsInserted", "numOutputRows"),
    "updated": ("numTargetRowsUpdated", "numUpdatedRows"),
    "deleted": ("numTargetRowsDeleted", "numDeletedRows"),
    "copied": ("numTargetRowsCopied", "numCopiedRows"),
}
_SIZES: Names = {
    "files_added": ("numTargetFilesAdded", "numAddedFiles", "numFiles"),
    "files_removed": ("numTargetFilesRemoved", "numRemovedFiles"),
    "bytes_added": ("numTargetBytesAdded", "numAddedBytes", "numOutputBytes"),
    "bytes_removed": ("numTargetBytesRemoved", "numRemovedBytes"),
}
"""The names of MERGE, of UPDATE, DELETE and OPTIMIZE, and of statements that only write."""


def commit_figures(commit: Commit) -> CommitFigures:
    """Return what a commit did; a statement that is no MERGE has the kinds of rows that it counts."""
    return CommitFigures.of(dict(recorded_figures(commit.metrics, _ROWS)), commit.metrics, _SIZES)
