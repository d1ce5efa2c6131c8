"""The results of the batches of a model as its own: its status is the worst of theirs, its figures are their sums."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from merge_runner.engine.response import MERGE_FIGURES, MergeFigures, NodeResponse, NoFigures
from merge_runner.run.batches.batch_jobs import BatchJob
from merge_runner.run.results.results import FAILED, SUCCEEDED, Result, Status, Timing

_SAME = frozenset({"table_version", "files_total"})
"""Figures of a table, not of what a MERGE has done: those of the last batch count."""


def joined_result(unique_id: str, batches: Sequence[tuple[BatchJob, Result]], relation: str) -> Result:
    """Return the result of a model whose batches have ended, each with its result."""
    results = [result for _, result in batches]
    if not results:
        response = NodeResponse(statement=NoFigures("MERGE", 0), batches=[])
        return Result(unique_id, "no-op", response=response, message="no batch is due", relation_name=relation)
    status = _status([result.status for result in results])
    last = max(results, key=_end)
    response = NodeResponse(
        branch=last.response.branch,
        is_incremental=results[0].response.is_incremental,
        target=results[0].response.target,
        statement=_sums([result.response.merge for result in sorted(results, key=_end)]) or last.response.statement,
        verdict=last.response.verdict,
        attempts=max((result.response.attempts or 0 for result in results), default=0) or None,
        place=next((result.response.place for result in results if result.status == "error"), None),
        batches=[batch_as_json(job, result) for job, result in batches],
    )
    return Result(
        unique_id,
        status,
        timing=_timing(results),
        thread_id=last.thread_id,
        response=response,
        message=_message(status, batches),
        compiled_code=last.compiled_code,
        relation_name=relation,
        warnings=tuple(dict.fromkeys(warning for result in results for warning in result.warnings)),
        plan=last.plan,
    )


def batch_as_json(job: BatchJob, result: Result) -> dict[str, Any]:
    """Return a batch as the adapter response of its model has it."""
    merge = result.response.merge
    return {
        "start": job.due.window.start_text,
        "end": job.due.window.end_text,
        "reason": job.due.reason,
        "status": result.status,
        "rows": merge.rows_affected if merge is not None else 0 if result.status == "no-op" else None,
        "version": result.response.table_version,
        "seconds": round(result.execution_time, 3),
        "message": result.message or None,
    }


def _status(statuses: Sequence[Status]) -> Status:
    bad = [status for status in statuses if status in FAILED or status == "skipped"]
    if not bad:
        return "success" if "success" in statuses else "no-op"
    if not SUCCEEDED.isdisjoint(statuses):
        return "partial success"
    return "error" if "error" in bad else "skipped"


def _sums(merges: Sequence[MergeFigures | None]) -> MergeFigures | None:
    reports = [merge for merge in merges if merge is not None]
    if not reports:
        return None
    values = {
        name: getattr(reports[-1], name) if name in _SAME else _sum([getattr(merge, name) for merge in reports])
        for name in MERGE_FIGURES
    }
    return MergeFigures.of(values, {})


def _sum(counts: Sequence[int | None]) -> int | None:
    """Return the sum, None where one is not known."""
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if len(numbers) == len(counts) else None


def _end(result: Result) -> tuple[bool, datetime]:
    """Return when a batch ended, with whether its statement has run: the last one of these made the newest version."""
    ends = [phase.completed_at for phase in result.timing if phase.name == "execute"]
    return result.response.table_version is not None, max(ends, default=datetime.min.replace(tzinfo=timezone.utc))


def _timing(results: Sequence[Result]) -> tuple[Timing, ...]:
    phases = [phase for result in results for phase in result.timing if phase.name == "execute"]
    if not phases:
        return ()
    start, end = min(phase.started_at for phase in phases), max(phase.completed_at for phase in phases)
    return (Timing("execute", start, end),)


def _message(status: Status, batches: Sequence[tuple[BatchJob, Result]]) -> str:
    done = sum(result.status in SUCCEEDED for _, result in batches)
    words = f"{done} of {len(batches)} batch{'es' if len(batches) != 1 else ''}"
    rows = _sum([result.response.merge.rows_affected for _, result in batches if result.response.merge is not None])
    if rows is not None and status in ("success", "partial success"):
        words += f", {rows:,} row{'s' if rows != 1 else ''} changed"
    failed = next(((job, result) for job, result in batches if result.status in FAILED), None)
    return words if failed is None else f"{words}; {failed[0].due.window}: {failed[1].message}"
