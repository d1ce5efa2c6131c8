"""Runs the MERGE of a model, and gathers what the engine says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.duplicate_matches import refuse_several_matches
from merge_runner.engine.merge.guardrails import check_before, check_committed
from merge_runner.engine.merge.idempotency import recording, skipped
from merge_runner.engine.merge.merge_on_branch import merge_on_branch, runs_on_branch
from merge_runner.engine.merge.runtime_filter import bounded
from merge_runner.engine.merge.statement import Bounded
from merge_runner.engine.merge.unread_target import of_unread_target
from merge_runner.engine.metrics.merge_metrics import merge_figures
from merge_runner.engine.metrics.verdict_check import verdict_held
from merge_runner.engine.response import RuntimeFilter, Verdict
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.spark.sql import Ran, run_measured
from merge_runner.engine.table_format.protocol import Snapshot
from merge_runner.formats.failures import UNREADABLE
from merge_runner.formats.merge_plans import duplicates_rows
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import origin
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.judge.merge_analysis import JudgedMerge, judge_merge
from merge_runner.pruning.runtime_filter.source_pinning import Fixing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_merge(step: RunMerge, context: NodeContext) -> None:
    """Runs the statement; what it did is in the response of `context`. Raises EngineError."""
    expect = step.expect
    tried = expect is not None and runs_on_branch(expect, context.session)
    # What is counted beforehand has to be what the MERGE sees; what it has done on a branch is known.
    fixing = expect.fixing if expect is not None and (expect.limits.about_source or not tried) else None
    try:
        _run_merge(step, context, tried, fixing)
    except EngineError as error:
        if error.code != UNREADABLE:
            raise
        if step.judged.layout.format != "iceberg":
            raise of_unread_target(error, step.judged.statement, step.target.name) from error
        once = step.judged.fixing
        if once.left_out is not None:
            error.hint = f"merge-on-read can read it (`write.merge.mode`); it cannot be computed once: {once.left_out}"
            raise
        # Rows that were computed beforehand can be read.
        bounding = replace(step.bounding, scan=None) if step.bounding is not None else None
        _run_merge(replace(step, bounding=bounding), context, tried, replace(once, scan=None))


def _run_merge(step: RunMerge, context: NodeContext, tried: bool, fixing: Fixing | None) -> None:
    """Run the statement once, on a temporary branch where `tried`. Raises EngineError."""
    response = context.response
    format = step.judged.layout.format
    expect, counted = step.expect, None

    def run(statement: Bounded) -> Ran:
        context.on_statement(statement.sql)
        with recording(context.session, context.batch):
            return _run(context.session, statement)

    with bounded(step, context.session, fixing) as made:
        before = context.table_format(format).snapshot(context.session, step.target)
        response.runtime_filter = RuntimeFilter(dict(made.bounds), dict(made.pins), list(made.left_out), made.staged)
        context.bounds_news = tuple(made.news)
        kinds = (clause.kind for clause in step.judged.statement.clauses)
        if duplicates_rows(format, kinds, step.judged.layout.properties):
            refuse_several_matches(context.session, step.target, parse(made.sql), step.judged.scope)
        if expect is None:
            ran = run(made)
        elif tried:
            ran = merge_on_branch(step, expect, made, context, run)
        else:
            counted = check_before(step, expect, made, context)
            ran = run(made)
    if context.batch is not None and not ran.rows and format != "iceberg":
        # Another process has committed the batch since it was asked for: Delta skips the statement, and says nothing.
        skipped(context, context.batch)
        return
    context.touched[context.node] = made.condition
    figures = response.statement = merge_figures(context, step.target, format, ran)
    held = verdict_held(
        _as_it_ran(step.judged, made),
        figures.files_total,
        figures.files_scanned,
        lambda asked: _passing(before, asked),
    )
    response.verdict = Verdict(step.judged.judgement.verdict, held)
    if expect is not None and counted is not None:
        check_committed(step, expect, counted, figures)


def _passing(before: Snapshot | None, asked: Sequence[str]) -> tuple[int, int] | None:
    """What the log says of conditions. The MERGE has committed: a log that cannot be asked does not undo that."""
    try:
        return before.files_passing(asked) if before is not None else None
    except EngineError as error:
        if error.kind is Kind.CANCELLED:
            raise
        return None


def _run(session: SparkSession, made: Bounded) -> Ran:
    try:
        return run_measured(session, made.sql)
    except EngineError as error:
        if error.statement == made.sql and error.offset is not None:
            # The engine's position is in the text that ran: map it to the author's.
            error.statement, error.offset = made.text, origin(made.edits, error.offset)
        raise


def _as_it_ran(merge: JudgedMerge, made: Bounded) -> JudgedMerge:
    """Analyze the statement with its runtime filter, which prunes by its text, as the verdict `runtime` predicted."""
    return judge_merge(parse(made.sql), merge.layout, merge.lookup) if made.bounds else merge
