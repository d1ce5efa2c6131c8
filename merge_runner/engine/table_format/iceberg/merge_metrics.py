"""What a MERGE into an Iceberg table did: its snapshot's summary, and the scan of the target in its plan.

Iceberg 1.12.0 on Spark 4.1; older ones write no `spark.merge-into.*`, and those counts are None then. No metric has
the rows of the source, nor how the time divides into scan and rewrite: the MERGE is one plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from merge_runner.engine.response import MergeFigures
from merge_runner.engine.spark.physical_plan_metrics import TableScan, table_scans
from merge_runner.engine.spark.sql import StatementResult
from merge_runner.engine.table_format.iceberg.log import snapshot_summary, statement_snapshot
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS = "spark.merge-into.num-target-rows-"

SCAN_METRICS = {
    "total planning duration (ms)": "totalPlanningDuration",
    "total data manifests": "totalDataManifest",
    "number of scanned data manifests": "scannedDataManifests",
    "number of skipped data manifests": "skippedDataManifests",
    "number of result data files": "resultDataFiles",
    "number of skipped data files": "skippedDataFiles",
    "total data file size (bytes)": "totalDataFileSize",
    "total delete manifests": "totalDeleteManifests",
    "number of scanned delete manifests": "scannedDeleteManifests",
    "number of skipped delete manifest": "skippedDeleteManifests",
    "total delete file size (bytes)": "totalDeleteFileSize",
    "number of result delete files": "resultDeleteFiles",
    "number of equality delete files": "equalityDeleteFiles",
    "number of indexed delete files": "indexedDeleteFiles",
    "number of positional delete files": "positionalDeleteFiles",
    "number of skipped delete files": "skippedDeleteFiles",
    "number of row deletes applied": "numDeletes",
    "number of file splits read": "numSplits",
}
"""Spark's descriptions of the metrics of an Iceberg scan, and Iceberg's names of them."""


def merge_figures(session: SparkSession, target: Relation, stamp: str, result: StatementResult) -> MergeFigures:
    """The figures of a MERGE; `table_version` is the snapshot's id. Raises EngineError."""
    commit = statement_snapshot(session, target, stamp)
    summary = (
        {name: int(value) for name, value in commit.metrics.items() if value.isdigit()} if commit is not None else {}
    )
    rows = changed_rows(summary, commit.operation if commit is not None else None)
    scans = table_scans(session, result, target.name)
    scan = target_scan(scans) if scans else None
    total, scanned, scanned_bytes = _files(session, target, scans, scan, summary)
    written_metrics = {
        short: summary.get(name, 0) if commit is not None else None
        for short, name in (
            ("files_added", "added-data-files"),
            ("files_removed", "deleted-data-files"),
            ("bytes_added", "added-files-size"),
            ("bytes_removed", "removed-files-size"),
        )
    }
    measured = scan.metrics if scan is not None else {}
    figures = {
        **rows,
        **written_metrics,
        "files_total": total,
        "files_scanned": scanned,
        "bytes_scanned": scanned_bytes,
        "execution_ms": result.milliseconds,
        "table_version": commit.version if commit is not None else None,
    }
    metrics = summary | {SCAN_METRICS[name]: value for name, value in measured.items() if name in SCAN_METRICS}
    return MergeFigures.of(figures, metrics)


def target_scan(scans: Sequence[TableScan]) -> TableScan | None:
    """Return the scan of a MERGE's target table that reads what is merged into; None where it cannot be determined.

    Copy-on-write has a special kind of scan, next to one of the keys alone; merge-on-read asks for the position of each
    row. Where neither shows, an insert-only MERGE, there must be a single scan: the source may read the table as well.
    """
    own = [scan for scan in scans if "IcebergCopyOnWriteScan(" in scan.text]
    own = own or [scan for scan in scans if "_pos#" in scan.text] or list(scans)
    return own[0] if len(own) == 1 else None


def changed_rows(summary: Mapping[str, int], operation: str | None) -> dict[str, int | None]:
    """Return the rows of each kind that the snapshot of a MERGE records, by their short names; None where missing."""
    kinds = ("inserted", "updated", "deleted", "copied")
    counts: dict[str, int | None]
    if operation == "append" and f"{_ROWS}inserted" not in summary:
        # Spark plans an insert-only MERGE as a plain append, which counts records and no kinds of rows.
        counts = {**dict.fromkeys(kinds, 0), "inserted": summary.get("added-records", 0)}
    else:
        counts = _counted_once({kind: summary.get(f"{_ROWS}{kind}") for kind in kinds}, summary)
    changed = [counts[kind] for kind in kinds[:3]]
    affected = sum(count or 0 for count in changed) if None not in changed else None
    return {f"rows_{kind}": count for kind, count in counts.items()} | {"rows_affected": affected}


def _counted_once(counts: dict[str, int | None], summary: Mapping[str, int]) -> dict[str, int | None]:
    """The counts of rows, where Spark's are of pairs of rows, or of several passes.

    Where a match only deletes, Spark counts a row once for each source row that matches it; the files show how many
    are gone. Every row that is inserted, updated or copied is written once. Where rows are distributed by `range`,
    Spark first runs the plan to find the ranges, and counts all rows then as well; with rows so skewed that it looks at
    some of them a third time, no count by kind remains: None. Measured on Spark 4.1.4 and Iceberg 1.12.0.
    """
    inserted, updated, deleted, copied = (counts[kind] for kind in ("inserted", "updated", "deleted", "copied"))
    if inserted is None or updated is None or deleted is None or copied is None:
        return counts
    added = summary.get("added-records", 0)
    # Older marks of the same files are written again with the new ones, and count as removed.
    marks = summary.get("added-position-deletes", 0) - summary.get("removed-position-deletes", 0)
    fewer = summary.get("deleted-records", 0) - added + marks
    if not inserted and not updated:
        return counts | {"deleted": min(deleted, fewer) if fewer > 0 else deleted, "copied": added}
    passes, rest = divmod(inserted + updated + copied, added) if added else (1, 0)
    if rest or deleted % passes or inserted % passes or updated % passes:
        return dict.fromkeys(counts)
    inserted, deleted = inserted // passes, deleted // passes
    removed_rows = fewer + inserted
    return {
        "inserted": inserted,
        "updated": updated // passes,
        "deleted": min(deleted, removed_rows) if removed_rows > 0 else deleted,
        "copied": copied // passes,
    }


def _files(
    session: SparkSession,
    target: Relation,
    scans: Sequence[TableScan] | None,
    scan: TableScan | None,
    summary: Mapping[str, int],
) -> tuple[int | None, int | None, int | None]:
    """Data files of the snapshot that was read, how many of them the scan planned to read, and the bytes of these.

    The scan's own count of skipped files leaves out those of manifests that were skipped as a whole.
    """
    if scans is None:
        return None, None, None
    if not scans:
        # The optimizer took the scan away: the condition is false, or the source has no row.
        total = summary.get("total-data-files")
        before = None
        if total is not None:
            before = total - summary.get("added-data-files", 0) + summary.get("deleted-data-files", 0)
        return before, 0, 0
    if scan is None:
        return None, None, None
    if scan.snapshot is None:
        return 0, 0, 0
    files_in_snapshot = snapshot_summary(session, target, scan.snapshot).get("total-data-files")
    # A scan that was planned again is another node, and the metrics of the first one stay at zero.
    is_whole = scan.is_in_final_plan or scan.metrics.get("total data manifests", 0) > 0
    planned = scan.metrics if is_whole else {}
    return (
        int(files_in_snapshot) if files_in_snapshot is not None else None,
        planned.get("number of result data files"),
        planned.get("total data file size (bytes)"),
    )
