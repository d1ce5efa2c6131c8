"""What the merges of an invocation cost, slowest first, with a hint where a figure is bad."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from merge_runner.engine.response import MergeFigures, NodeResponse
from merge_runner.formats import DEFAULT, Format
from merge_runner.formats.registry import capabilities
from merge_runner.run.results.results import Result

ROWS = 20
"""Rows shown: more than a screen is not read, and the slowest come first."""

MANY_FILES = 20
"""From how many files on it matters that all are scanned: fewer are read in less than a MERGE costs anyway."""

FEW_TOUCHED = 0.1
"""The share of the scanned files that needed a change up to which a filter would have spared most of the scan. Where a
merge changes more of them, reading the whole table is not what it waits for."""

HIGH_AMPLIFICATION = 100
"""Copied rows for each changed one from which the rewriting is nearly all of the work: 99 % of what is written."""

MANY_COPIES = 100_000
"""Copied rows from which that matters: the tables of 100,000 rows that our benchmarks merge into are rewritten in less
than the fixed cost of a MERGE, some 0.8 s."""

MOST_ROWS = 0.5
"""The share of changed rows from which a MERGE that writes all files of its table again takes longer than writing the
whole table (benchmarks/shares.py)."""


@dataclass(frozen=True)
class MergeRow:
    """One merge. Figures that the engine did not report are None.

    `copied_per_change` is write amplification: rows copied unchanged for each row updated or deleted; None where none
    was changed.
    """

    unique_id: str
    name: str
    seconds: float
    files_scanned: int | None
    files_total: int | None
    rows_inserted: int | None
    rows_updated: int | None
    rows_deleted: int | None
    rows_copied: int | None
    copied_per_change: float | None
    hints: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The row as JSON values, keys as above."""
        return {**asdict(self), "hints": list(self.hints)}


def summary(results: Iterable[Result], formats: Mapping[str, Format]) -> list[MergeRow]:
    """The merges among the results that ran to their end, slowest first; `formats` are their targets', by node."""
    rows = [
        _row(result, formats.get(result.unique_id, DEFAULT))
        for result in results
        if result.status == "success" and result.response.operation == "MERGE"
    ]
    return sorted(rows, key=lambda row: (-row.seconds, row.name))


def _row(result: Result, format: Format) -> MergeRow:
    figures = result.response.merge or MergeFigures.unknown()
    copied, changed = figures.rows_copied, _count_changed_rows(figures)
    return MergeRow(
        result.unique_id,
        result.unique_id.split(".", 2)[-1],
        round(result.execution_time, 3),
        figures.files_scanned,
        figures.files_total,
        figures.rows_inserted,
        figures.rows_updated,
        figures.rows_deleted,
        copied,
        round(copied / changed, 2) if copied is not None and changed else None,
        tuple(_hints(result.response, figures, format)),
    )


def _count_changed_rows(figures: MergeFigures) -> int | None:
    """Rows updated and deleted: inserting copies nothing."""
    updated, deleted = figures.rows_updated, figures.rows_deleted
    return updated + deleted if updated is not None and deleted is not None else None


def _hints(response: NodeResponse, figures: MergeFigures, format: Format) -> Iterator[str]:
    total, scanned = figures.files_total, figures.files_scanned
    if total is not None and scanned == total >= MANY_FILES:
        touched_files = _count_touched_files(figures)
        if touched_files <= FEW_TOUCHED * total:
            yield (
                f"all {total:,} files were scanned to change {touched_files:,}: filter the target in ON by a "
                "partition or clustering column; lint says what prunes"
            )
    copied, changed = figures.rows_copied or 0, _count_changed_rows(figures)
    if copied >= MANY_COPIES and changed == 0:
        yield (
            f"{copied:,} rows were rewritten and none was changed: leave rows that have not changed out of the source"
        )
    elif copied >= MANY_COPIES and changed and copied / changed >= HIGH_AMPLIFICATION:
        marking = capabilities(format).marking
        yield (
            f"{copied / changed:,.0f} rows were rewritten for each that changed: set {marking.property} to "
            f"{marking.marks} in its properties, or keep rows that change together in the same files (partition_by, "
            "cluster_by)"
        )
    writes_all = total is not None and figures.files_removed == total and figures.rows_copied is not None
    share = changed / (changed + copied) if changed else 0.0
    if writes_all and changed and changed + copied >= MANY_COPIES and share >= MOST_ROWS:
        yield (
            f"{share:.0%} of its rows changed, and all of its files were written again: where "
            "each run does so, and its inputs still give all of its rows, `materialized: table` takes no longer"
        )
    verdict = response.verdict
    if verdict is not None and verdict.verdict_held is False:
        yield (
            f"lint said `{verdict.verdict}`, and the engine scanned otherwise: `debug --write-catalog` records "
            "the table's real layout for lint"
        )
    attempts = response.attempts or 1
    if attempts > 1:
        yield (
            f"it ran {attempts} times, for other writers committed first: let them run at another time, or give each a "
            "separate partition by a literal in ON"
        )


def _count_touched_files(figures: MergeFigures) -> int:
    """Files that were rewritten, or of which rows were marked as deleted."""
    marking_metrics = ("numTargetDeletionVectorsAdded", "numTargetDeletionVectorsUpdated", "added-delete-files")
    return max(figures.files_removed or 0, sum(int(figures.metrics.get(name, 0)) for name in marking_metrics))
