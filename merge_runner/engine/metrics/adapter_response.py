"""The keys of a node's `adapter_response`: what the steps of the node add to it, with types and units.

Docs only: docs/reference/adapter-response.md is made of it, and a test compares it with what the code writes.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class OfAnyStatement(TypedDict, total=False):
    """Models, seeds and compaction."""

    operation: Literal["MERGE", "CREATE OR REPLACE TABLE AS SELECT", "INSERT OVERWRITE", "CREATE VIEW", "OPTIMIZE"]
    """The kind of statement."""
    rows_affected: int | None
    """Rows inserted, updated and deleted by a MERGE; rows of the table after a table model or seed. Unit: rows"""
    table_version: int | None
    """The version of the commit (Delta) or the id of the snapshot (Iceberg); null where nothing was committed."""
    attempts: int
    """How often the statement was tried; more than 1 after conflicts or transient failures."""
    is_incremental: bool
    """Whether the text of an incremental run was used; only where the text of a first run differs."""


class OfMerge(TypedDict, total=False):
    """MERGE statements."""

    rows_source: int | None
    """Rows of the source; null on Iceberg. Unit: rows"""
    rows_inserted: int | None
    """Rows inserted. Unit: rows"""
    rows_updated: int | None
    """Rows updated. Unit: rows"""
    rows_deleted: int | None
    """Rows deleted. Unit: rows"""
    rows_copied: int | None
    """Rows that were rewritten unchanged, since they are in the same files as changed ones. Unit: rows"""
    files_total: int | None
    """Data files of the target before the MERGE. Unit: files"""
    files_scanned: int | None
    """Data files that were left to scan after data skipping. Unit: files"""
    files_added: int | None
    """Data files written. Unit: files"""
    files_removed: int | None
    """Data files replaced. Unit: files"""
    bytes_added: int | None
    """Size of the files written; with delete files on Iceberg. Unit: bytes"""
    bytes_removed: int | None
    """Size of the files replaced; with delete files on Iceberg. Unit: bytes"""
    scan_ms: int | None
    """Time to find the files with matches; null on Iceberg, where the MERGE is one plan. Unit: milliseconds"""
    rewrite_ms: int | None
    """Time to write the files; null on Iceberg. Unit: milliseconds"""
    execution_ms: int | None
    """Time of the statement. Unit: milliseconds"""
    metrics: dict[str, Any]
    """All metrics of the engine, by the engine's own names."""
    verdict: Literal["static", "runtime", "none", "unknown"]
    """The verdict of the static analysis on the scan of the target, as lint reports it."""
    verdict_held: bool | None
    """Whether the engine skipped files as the verdict says; null where that is not known."""
    bounds: dict[str, str]
    """The runtime filter: columns and what they were restricted to, as `{"flight_date": "2 values"}`."""
    bounds_left_out: list[str]
    """Why a column, or the whole MERGE, got no runtime filter."""
    pins: dict[str, Any]
    """The version at which each source table was read (`VERSION AS OF`)."""
    staged: bool
    """Whether the source was materialized before the MERGE."""
    created: bool
    """Whether the target was created."""
    history_replaced: bool
    """`true` where a full refresh replaced rows that only the table had."""
    altered: list[str]
    """What was altered of an existing table: properties, comments, constraints, columns."""
    pre_hooks_left_out: int
    """Hooks that did not run, since the MERGE had already been committed. Unit: hooks"""
    expect_merge: dict[str, Any]
    """What was counted for `expect_merge` before the commit: `counted_by` (`query` or `branch`), row counts."""
    changes: dict[str, Any]
    """The consumed range of a Change Data Feed: `of`, `from_version`, `to_version`."""
    optimized: dict[str, Any]
    """The response of the compaction after the MERGE (`optimize.after`)."""
    batch_id: int
    """The batch of `--batch-id`, or of a stream."""
    branch: str
    """The branch that was written (`--branch`)."""
    emptied: bool
    """`true` where `--full-refresh` emptied the branch before the MERGE."""


class OfStream(TypedDict, total=False):
    """Models that a stream feeds."""

    stream: str
    """The stream, `source.table`."""
    lag_ms: int
    """Time from the start of the micro-batch until the target had it. Unit: milliseconds"""
    totals: dict[str, int]
    """Sums over all micro-batches of the invocation: rows, files, bytes."""


class OfOptimize(TypedDict, total=False):
    """`merge-runner optimize`, in addition to the figures of files and bytes."""

    delete_files_removed: int
    """Delete files that compaction removed; Iceberg. Unit: files"""
    files_deleted: int | None
    """Old files that `--vacuum` deleted. Unit: files"""


class OfTest(TypedDict, total=False):
    """Data tests and unit tests."""

    tested: Literal["bounds", "all rows"]
    """With `since: bounds`: which rows were tested."""
    failures_table: str
    """The table with all failing rows (`store_failures`)."""
    failing_rows: list[dict[str, Any]]
    """Up to five failing rows."""
    more_failing_rows: bool
    """Whether there are other failing rows."""
    compiled_path: str
    """The file with the query of the test."""
    place: dict[str, Any]
    """`path`, `line` and `column` of the test, or of the error in a query or hook."""
    differences: list[dict[str, Any]]
    """Of a unit test: rows that are `missing`, `unexpected` or `changed`."""


class OfFreshness(TypedDict, total=False):
    """`merge-runner source freshness` (in sources.json, as in dbt)."""

    max_loaded_at: str
    """The time of the newest row, in ISO 8601."""
    snapshotted_at: str
    """When it was measured, in ISO 8601."""
    max_loaded_at_time_ago_in_s: float
    """The age of the newest row. Unit: seconds"""


GROUPS: tuple[Any, ...] = (OfAnyStatement, OfMerge, OfStream, OfOptimize, OfTest, OfFreshness)
"""All keys, by what has them."""
