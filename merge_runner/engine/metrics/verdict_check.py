"""Whether the engine scanned a MERGE's target as static analysis predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from merge_runner.formats.registry import capabilities
from merge_runner.pruning.judge.file_condition import can_skip, file_conditions
from merge_runner.pruning.judge.merge_analysis import JudgedMerge


def verdict_held(
    merge: JudgedMerge,
    files_total: int | None,
    files_scanned: int | None,
    passing: Callable[[Sequence[str]], tuple[int, int] | None],
) -> bool | None:
    """Compare the verdict with the files before and after data skipping; None where they are inconclusive.

    `none` and a `runtime` without a runtime filter predict a full scan. `static` predicts that files are skipped,
    unless none of them could be: then `passing` returns how many files there were, and how many the conditions keep.
    """
    verdict = merge.judgement.verdict
    if verdict == "unknown" or files_total is None or files_scanned is None:
        return None
    if verdict != "static":
        if files_scanned < files_total and _engine_infers(merge, files_scanned):
            return None
        if files_scanned < files_total and any(condition.cause == "negation" for condition in merge.judgement.on):
            return None  # a file of one value, or of NULLs alone, is skipped by <> and IS NOT NULL
        return files_scanned == files_total
    if files_scanned < files_total or files_total == 0:
        return True
    if not can_skip(merge):
        return False
    asked = file_conditions(merge)
    counted = passing(asked) if asked is not None else None
    if counted is None or counted[0] != files_total:
        return None  # another version than the one that was merged into
    return counted[1] == files_total


def _engine_infers(merge: JudgedMerge, files_scanned: int) -> bool:
    """Whether Spark may skip files of an Iceberg target for what it finds in the source, which no text promises.

    Without the check for several matches it infers the source's constants on the target's side (insert-only MERGE and
    unconditional DELETE); and it takes away a scan that a source without rows makes pointless.
    """
    format = merge.layout.format
    if format is None or not capabilities(format).infers_through_join:
        return False
    return files_scanned == 0 or merge.statement.merge_class in ("insert-only", "delete-only")
