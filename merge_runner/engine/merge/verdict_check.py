"""Whether the engine scanned a MERGE's target as static analysis predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from merge_runner.engine.merge.statement import RewrittenMerge
from merge_runner.engine.response import MergeFigures, Verdict
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.table_format.protocol import Snapshot
from merge_runner.formats.registry import capabilities
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.file_condition import can_skip, file_conditions
from merge_runner.pruning.judge.merge_analysis import JudgedMerge, judge_merge


def judged_as_it_runs(merge: JudgedMerge, statement: RewrittenMerge) -> JudgedMerge:
    """Return the analysis of a MERGE with its runtime filter, which prunes by its text as `runtime` predicts."""
    if not statement.bounds:
        return merge
    return judge_merge(parse(statement.sql), merge.layout, merge.lookup, variables=merge.scope.variables)


def verify_verdict(
    merge: JudgedMerge, as_it_ran: JudgedMerge, figures: MergeFigures, before: Snapshot | None
) -> Verdict:
    """Return the verdict of a MERGE that has run, and whether the engine scanned what it predicts.

    `as_it_ran` is the analysis with the runtime filter. `before` is what a Delta table was before. Raises EngineError
    where the node was cancelled.
    """
    is_held = is_verdict_held(
        as_it_ran, figures.files_total, figures.files_scanned, lambda predicate: _passing(before, predicate)
    )
    return Verdict(merge.judgement.verdict, is_held)


def _passing(before: Snapshot | None, conditions: Sequence[str]) -> tuple[int, int] | None:
    """What the log says of conditions. The MERGE has committed: a log that cannot be asked does not undo that."""
    try:
        return before.files_passing(conditions) if before is not None else None
    except EngineError as error:
        if error.kind is Kind.CANCELLED:
            raise
        return None


def is_verdict_held(
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
    conditions = file_conditions(merge)
    counted = passing(conditions) if conditions is not None else None
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
