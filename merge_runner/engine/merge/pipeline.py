"""The MERGE of a model as a pipeline: each stage is a function from a value to a value.

Whether a stage applies is decided here.

    committed_earlier       an earlier invocation has committed this very MERGE: nothing runs
    claim                   the batch or the changes that it commits once: nothing runs where the table has them
    variants                the statements that may be sent, in their order; each goes through the stages below
    prepared_statement      the source pinned or materialized, the runtime filter added to ON; held until the MERGE ran
    predict                 what it will read and at most rewrite, by the file lists of its target
    refuse_costly           `expect_merge` and `--max-scanned`, by this prediction
    refuse_several_matches  several source rows for one target row, where the engine would not refuse them
    check_before            `expect_merge`, by a query; or
    checked_on_branch       `expect_merge`, by what the MERGE did on a temporary branch; also next to a mark
    source_as_view          a view in place of a source that the engine cannot read as it is written
    execute                 the statement
    merge_figures           what it did, by the engine's own metrics
    verify_verdict          whether the engine scanned what static analysis predicted
    check_committed         `expect_merge` again, by the figures of the commit
    check_consumed          whether another run has consumed the same changes

What the stages return is noted here, in the response of the node.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.engine.context import Batch, NodeContext
from merge_runner.engine.merge.change_feed_source import check_consumed, unreadable
from merge_runner.engine.merge.cost_limits import refuse_costly
from merge_runner.engine.merge.duplicate_matches import refuse_several_matches
from merge_runner.engine.merge.guardrails import check_before, check_committed
from merge_runner.engine.merge.idempotency import Claim, claim, committed_earlier, recording
from merge_runner.engine.merge.merge_on_branch import checked_on_branch, writes_main
from merge_runner.engine.merge.merge_warnings import warn_of_empty_table, warnings_of_columns
from merge_runner.engine.merge.prediction import predict
from merge_runner.engine.merge.runtime_filter import prepared_statement
from merge_runner.engine.merge.statement import RewrittenMerge
from merge_runner.engine.merge.target_mark import is_changed_mark
from merge_runner.engine.merge.unread_target import of_unread_source, source_as_view
from merge_runner.engine.merge.verdict_check import judged_as_it_runs, verify_verdict
from merge_runner.engine.response import MergeFigures, NoFigures, RuntimeFilter
from merge_runner.engine.spark.errors import EngineError, Kind, engine_error, from_engine
from merge_runner.engine.spark.sql import StatementResult, run_measured
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.formats import Format
from merge_runner.formats.failures import UNREADABLE
from merge_runner.formats.lines import line_of
from merge_runner.formats.merge_plans import duplicates_rows
from merge_runner.formats.syntax import runs
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import origin
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.merge_variants import Failure, Variant, variants
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_merge(step: RunMerge, context: NodeContext) -> None:
    """Run the MERGE of a step, unless the table has it; what it did is in the response of `context`.

    A claim is made again on each attempt: a retry may have been needed because another run consumed some changes.
    Raises EngineError.
    """
    if step.judged.statement.schema_evolution:
        _refuse_ignored_evolution(step, context)
    target = context.output.response.target
    commit = committed_earlier(context, step.target, step.judged.layout.format) if context.earlier else None
    if commit is not None and not (target is not None and target.is_new):
        _skip(context, f"had committed as version {commit.version} in the invocation that is retried", commit.version)
        return
    adds_columns = context.branch is not None and step.judged.statement.schema_evolution
    with warnings_of_columns(step, context) if adds_columns or context.output.missing else nullcontext():
        commitment = claim(step, context)
        if commitment.skips is not None:
            _skip(context, commitment.skips)
        else:
            _merge_claimed(step, commitment, context)
        if step.feed is None and isinstance(context.batch, Batch):
            context.output.response.batch_id = context.batch.id
        warn_of_empty_table(step, context)


def _refuse_ignored_evolution(step: RunMerge, context: NodeContext) -> None:
    """Raise EngineError on a line of Spark that has no WITH SCHEMA EVOLUTION: 4.0 may run it and drop new columns."""
    line, capabilities = (
        line_of(str(context.session.version)),
        context.table_format(step.judged.layout.format).capabilities,
    )
    if line is not None and not runs(capabilities.name, "schema evolution", line=line):
        message = f"{capabilities.label} on {line} has no MERGE WITH SCHEMA EVOLUTION: nothing is written"
        raise EngineError(
            "no-schema-evolution", message, "add the columns before: `on_schema_change: append_new_columns`"
        )


def _merge_claimed(step: RunMerge, commitment: Claim, context: NodeContext) -> None:
    changes = commitment.changes
    try:
        _send(step, commitment.batch, context)
    except EngineError as error:
        if step.feed is None or changes is None:
            raise
        raise unreadable(step.feed, changes, error) from error
    if step.feed is not None and changes is not None and context.output.no_op is None:
        context.output.response.changes = changes.consumed(step.feed)
        version = context.output.response.table_version
        check_consumed(context.session, step.target, context.table_format(step.judged.layout.format), changes, version)


def _send(step: RunMerge, batch: Batch | None, context: NodeContext) -> None:
    """Run the first variant, and the next one that the failure of a variant lets be tried. Raises EngineError."""
    capabilities = context.table_format(step.judged.layout.format).capabilities
    failure: Failure | None = None
    error: EngineError | None = None
    has_main = capabilities.has_branches and writes_main(context.session)
    for variant in variants(step, capabilities, alone=context.alone, writes_main=has_main):
        if variant.after == failure:
            try:
                return _run(step, variant, error, batch, context)
            except EngineError as raised:
                failure, error = _failure(raised), raised
                if failure is None:
                    raise
    assert error is not None, "the first variant follows no failure: it has been tried"
    raise of_unread_source(error, step, capabilities) if failure == "unread source" else error


def _failure(error: EngineError) -> Failure | None:
    """Return why another variant may be tried after an error; None: it is the author's, or the engine's."""
    if is_changed_mark(error):
        return "changed mark"
    return "unread source" if error.code == UNREADABLE else None


def _run(
    step: RunMerge, variant: Variant, previous_error: EngineError | None, batch: Batch | None, context: NodeContext
) -> None:
    """The stages of one variant, from the source to the verified verdict; `previous_error` is why it is tried.

    Raises EngineError.
    """
    session, response, expect = context.session, context.output.response, step.expect
    format, expected_figures = step.judged.layout.format, None
    table_format = context.table_format(format)
    step = replace(step, bounding=variant.bounding)
    with (
        prepared_statement(step, session, context.table_format, variant.fixing)
        if variant.bounding is not None or variant.fixing is not None
        else nullcontext(RewrittenMerge(step.sql))
    ) as statement:
        snapshot_before = table_format.snapshot(session, step.target)
        response.runtime_filter = RuntimeFilter(
            dict(statement.bounds),
            dict(statement.pins),
            list(statement.left_out),
            statement.staged,
            variant.name if statement.edits or variant.over_view else "as written",
        )
        context.output.bounds_news = tuple(statement.news)
        judged = judged_as_it_runs(step.judged, statement)
        as_it_runs = replace(step, sql=statement.sql, judged=judged)
        response.predicted = predict(session, as_it_runs, table_format, context.past_merges, [])
        refuse_costly(step, response.predicted, context)
        kinds = (clause.kind for clause in step.judged.statement.clauses)
        if duplicates_rows(format, kinds, step.judged.layout.properties):
            refuse_several_matches(session, step.target, parse(statement.sql), step.judged.scope)
        if expect is not None and variant.branch != "always":
            expected_figures = check_before(step, expect, statement, context)
        with ExitStack() as places:
            final = statement
            if variant.branch == "always":
                final = places.enter_context(checked_on_branch(step, expect, statement, context))
            elif variant.branch == "with the filter" and statement.bounds:
                final = places.enter_context(checked_on_branch(step, None, statement, context))
            text = final.sql
            if variant.over_view and previous_error is not None:
                text = places.enter_context(source_as_view(session, text, previous_error))
            context.on_statement(text)
            result = execute(session, final, text, batch, table_format)
    if batch is not None and not result.rows and table_format.capabilities.keeps_batches:
        # Another process has committed the batch since the claim: the engine skips the statement, and reports nothing.
        _skip(context, str(batch))
        return
    context.output.runtime_filter = statement.condition
    figures = merge_figures(context, step.target, format, result)
    response.statement = figures
    response.verdict = verify_verdict(step.judged, judged, figures, snapshot_before)
    if expect is not None and expected_figures is not None:
        check_committed(step, expect, expected_figures, figures)


def execute(
    session: SparkSession, statement: RewrittenMerge, text: str, batch: Batch | None, table_format: TableFormat
) -> StatementResult:
    """Run the text of a statement, which commits `batch`. Raises EngineError, at its place in the author's text."""
    try:
        with recording(session, batch, table_format) if batch is not None else nullcontext():
            return run_measured(session, text)
    except EngineError as error:
        if error.statement == statement.sql and error.offset is not None:
            error.statement, error.offset = statement.text, origin(statement.edits, error.offset)
        raise


def _skip(context: NodeContext, reason: str, version: int | None = None) -> None:
    context.output.no_op = reason
    context.output.response.statement = NoFigures("MERGE", 0, version)


def merge_figures(
    context: NodeContext, target: Relation, format: Format | None, result: StatementResult
) -> MergeFigures:
    """The figures of a MERGE that has run.

    The statement has returned, so that it has committed: figures that cannot be read are a warning, and never a failure
    of the model. Raises EngineError where the node was cancelled meanwhile.
    """
    try:
        return context.table_format(format).merge_figures(context.session, target, context.stamp, result)
    except Exception as error:
        if not from_engine(error):
            raise
        failure = engine_error(error)
        if failure.kind is Kind.CANCELLED:
            raise failure from error
        context.output.warnings.append(f"the MERGE ran to its end, and its figures cannot be read: {failure.message}")
    return MergeFigures.unknown()
