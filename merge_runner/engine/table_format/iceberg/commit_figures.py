"""What a snapshot of an Iceberg table did, from its summary: Iceberg's totals, and Spark's counts of a MERGE."""

from __future__ import annotations

from collections.abc import Mapping

from merge_runner.engine.table_format.commit_figures import CommitFigures, Names, recorded_figures
from merge_runner.engine.table_format.iceberg.merge_metrics import changed_rows
from merge_runner.engine.table_format.protocol import Commit

_SIZES: Names = {
    "files_added": ("added-data-files",),
    "files_removed": ("deleted-data-files",),
    "bytes_added": ("added-files-size",),
    "bytes_removed": ("removed-files-size",),
}
_RECORDS: Names = {
    "written": ("added-records",),
    "removed": ("deleted-records",),
    "marked as deleted": ("added-position-deletes",),
}
"""Rows of the files, of a snapshot that does not say which of them are new."""


def commit_figures(commit: Commit) -> CommitFigures:
    """Return what a snapshot did. Only a MERGE and an append record kinds of rows; others, rows of files.

    Where files are rewritten, rows stay what they are.
    """
    rows = {} if commit.operation == "replace" else _rows(commit)
    return CommitFigures.of(rows, commit.metrics, _SIZES)


def _rows(commit: Commit) -> Mapping[str, int]:
    summary = {name: int(value) for name, value in commit.metrics.items() if value.isdecimal()}
    counted = changed_rows(summary, commit.operation)
    kinds = ("inserted", "updated", "deleted", "copied")
    counts = {kind: count for kind in kinds if (count := counted[f"rows_{kind}"]) is not None}
    return counts or dict(recorded_figures(commit.metrics, _RECORDS))
