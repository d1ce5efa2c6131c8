"""Runs one node: its session, its lock, its steps with retries, and the Result that comes out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from merge_runner.engine.context import Batch, NodeContext, WindowBatch
from merge_runner.engine.spark.errors import EngineError, engine_error, from_engine
from merge_runner.engine.spark.locks import writing
from merge_runner.engine.spark.sql import set_confs
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.engine.tables.catalog import table_exists
from merge_runner.engine.tables.first_run import has_been_built
from merge_runner.formats.branches import branch_confs
from merge_runner.formats.failures import DUPLICATE_MATCHES, Kind
from merge_runner.graph.graph import Node, run_config
from merge_runner.graph.label import node_names
from merge_runner.graph.model_text import text_hash
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.batches.batch_jobs import BatchJob
from merge_runner.run.node.diagnosis import name_duplicates
from merge_runner.run.node.lost_driver import NotBegunError, lost_driver
from merge_runner.run.node.outcome import cancellation, left_out_result, result_of
from merge_runner.run.node.retry import DEFAULT_RETRIES, Attempts
from merge_runner.run.node.run_context import RunContext
from merge_runner.run.node.text_on_engine import planned_on_engine
from merge_runner.run.results.artifacts import write_run_text, write_running_plan
from merge_runner.run.results.event_types import NodeRetried, NodeStarted, NodeWaiting, RetriedKind
from merge_runner.run.results.results import Result, Timing
from merge_runner.run.reuse.decision import ReuseDecision, RunDecision
from merge_runner.run.reuse.reuse import Reuse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_node(unique_id: str, run: RunContext) -> Result:
    """Run a node; every failure is in the Result. Raises NotBegunError where the driver is lost before."""
    node, planned = run.prepared.graph.nodes[unique_id], run.nodes.plans[unique_id]
    started = _now()
    decision = _decide(run.reuse, run, planned) if run.reuse is not None else None
    expected = run.nodes.durations.get(unique_id) if not isinstance(decision, ReuseDecision) else None
    run.events.emit(
        NodeStarted(**node_names(run.prepared.graph.nodes, unique_id), group=run.group(unique_id), expected=expected)
    )
    if isinstance(decision, ReuseDecision):
        return left_out_result(node, run.nodes, planned, decision, started)
    if run.reuse is not None:
        run.reuse.note_start(planned)
    return _run_steps(node, planned, run, decision, None)


def run_batch(job: BatchJob, run: RunContext) -> Result:
    """Run a batch of a model; every failure is in the Result. Raises NotBegunError where the driver is lost before."""
    return _run_steps(run.prepared.graph.nodes[job.unique_id], job.plan, run, None, job)


def _run_steps(
    node: Node, planned: NodePlan, run: RunContext, decision: RunDecision | None, job: BatchJob | None
) -> Result:
    """Run the steps of a node, or of its batch `job`. `decision` is why it runs, where its record may be kept."""
    unique_id = node.unique_id
    key = unique_id if job is None else job.id
    with _session(run) as session:
        started, plan, error = _now(), planned, None
        context = _context(session, node, planned, run, job)
        attempts = _attempts(run, node, planned, context)
        timed_out = threading.Event()
        try:
            with (
                _timeout(run, node, run.group(key), timed_out),
                _lock(run, planned, _shares_table(run, node, job)),
                run.driver.job_group(session, run.group(key), context.description),
            ):
                set_confs(session, _confs(run, node, context))
                plan = _choose_plan(run, planned, context, job)
                for step in plan.steps:
                    attempts.perform(step)
                if run.reuse is not None and decision is not None:
                    _keep_for_reuse(run.reuse, plan, decision, context)
        except Exception as failure:
            if not from_engine(failure):
                raise
            error = engine_error(failure)
            if run.reuse is not None and job is None:
                run.reuse.note_failure(plan)
        try:
            if error is not None:
                error = _explain_error(
                    error, run, plan, context, attempts, timed_out.is_set() and not run.stopping.is_set()
                )
            return result_of(run, plan, context, Timing("execute", started, _now()), attempts.tries, error)
        except Exception as failure:
            if not from_engine(failure):
                raise
            # There is no way to ask the table any more.
            return Result(unique_id, "error", message=str(lost_driver(run.driver, failure)))


def _decide(reuse: Reuse, run: RunContext, plan: NodePlan) -> ReuseDecision | RunDecision:
    """Return whether a node runs; where Spark alone knows that, it is asked in a separate session.

    A table that the node's own session had loaded before would be read as it was then.
    """
    if reuse.needs_spark(plan):
        try:
            with run.driver.session() as session:
                return reuse.decide(plan, session=session)
        except Exception as failure:
            if not from_engine(failure):
                raise
    return reuse.decide(plan)


def _keep_for_reuse(reuse: Reuse, plan: NodePlan, decision: RunDecision, context: NodeContext) -> None:
    """Keep what a node leaves, while nobody else can write its table. What the engine does not answer is not kept."""
    try:
        reuse.note_end(plan, decision, context)
    except Exception as failure:
        if not from_engine(failure) or engine_error(failure).kind in (Kind.CANCELLED, Kind.LOST):
            raise


@contextmanager
def _session(run: RunContext) -> Iterator[SparkSession]:
    """The session of a node inside the block. Raises NotBegunError where the driver is lost before."""
    with ExitStack() as stack:
        try:
            session = stack.enter_context(run.driver.session())
        except Exception as error:
            if not from_engine(error):
                raise
            raise NotBegunError(lost_driver(run.driver, error, seconds=0)) from error
        yield session


def _shares_table(run: RunContext, node: Node, job: BatchJob | None) -> bool:
    return run.shares(node.unique_id) if job is None else job.shares_table


def _context(session: SparkSession, node: Node, plan: NodePlan, run: RunContext, job: BatchJob | None) -> NodeContext:
    # The rows of a clone are those of another table: no text here has made them.
    text = text_hash(run.prepared.graph, node) if run.settings.clones is None else None
    context = NodeContext(
        session,
        run.catalog,
        run.shared,
        stamp=stamp(run.id, node.unique_id, text, str(job.due.window) if job is not None else None),
        earlier=_earlier_stamps(run, node, job),
        description=f"{node.name}{f' {job.due.window}' if job else ''} [{run.id}] {run.prepared.files.profile.target}",
        on_statement=partial(write_run_text, run.prepared, node.unique_id),
        node=node.unique_id,
        alone=isinstance(run.warehouse, Path) and not _shares_table(run, node, job),
        batch=_batch(run, node, job),
        branch=run.settings.branch if plan.writes is not None else None,
        scan_budget=run.scan_budget,
        past_merges=run.nodes.past_merges().get(node.unique_id, ()),
    )
    context.output.response.branch = context.branch
    return context


def _earlier_stamps(run: RunContext, node: Node, job: BatchJob | None) -> tuple[str, ...]:
    if job is None:
        return run.settings.earlier(node.unique_id)
    # What was committed to a table that is replaced now is not in it.
    return run.settings.earlier(node.unique_id, str(job.due.window)) if not job.of_new_table else ()


def _batch(run: RunContext, node: Node, job: BatchJob | None) -> Batch | WindowBatch | None:
    if job is None:
        return run.settings.batch(node)
    # A window of which some rows were read is not committed.
    return WindowBatch(node.application, job.due) if run.prepared.sample is None else None


def _confs(run: RunContext, node: Node, context: NodeContext) -> dict[str, str]:
    return {**stamp_confs(context.stamp), **run_config(node).conf, **branch_confs(run.settings.branch)}


def _choose_plan(run: RunContext, plan: NodePlan, context: NodeContext, job: BatchJob | None) -> NodePlan:
    """Return the plan that runs; the engine is asked once: another attempt runs the same. Raises EngineError."""
    first, chosen_plan = plan.first_run, plan
    if first is not None:
        chosen_plan = plan if has_been_built(context.session, run.catalog, first) else first.plan
        context.output.response.is_incremental = chosen_plan is plan
    if chosen_plan.asks is not None:
        prepared = run.prepared
        if job is not None:
            prepared = prepared.for_batch(job.batch, full_refresh=job.replaces_table)
        chosen_plan = planned_on_engine(prepared, plan.unique_id, context, first_run=chosen_plan is not plan)
    if chosen_plan is plan and first is None:
        return plan
    write_running_plan(run.prepared, plan, chosen_plan)
    return chosen_plan


def _attempts(run: RunContext, node: Node, plan: NodePlan, context: NodeContext) -> Attempts:
    config = run_config(node)
    retries, timeout = config.retries, config.timeout
    return Attempts(
        context,
        DEFAULT_RETRIES if retries is None else retries,
        partial(_version_committed, node, plan, context),
        run.stopping,
        lambda error, attempt, pause: run.events.emit(
            NodeRetried(
                **node_names(run.prepared.graph.nodes, node.unique_id),
                code=error.code,
                kind=cast(RetriedKind, error.kind.value),
                message=run.prepared.conceal(error.message),
                attempt=attempt,
                pause=pause,
            )
        ),
        time.monotonic() + timeout if timeout else None,
        run.driver.waits,
        partial(_is_settled, run, context),
    )


def _version_committed(node: Node, plan: NodePlan, context: NodeContext) -> int | None:
    """Return the version that the node's statement has committed, as the table says. Raises EngineError.

    The commit of a MERGE may be that of an earlier invocation which this one goes on with.
    """
    if plan.writes is None or not table_exists(context.session, plan.writes):
        return None
    table_format = context.table_format(run_config(node).format)
    stamps = [context.stamp, *(context.earlier if any(isinstance(step, RunMerge) for step in plan.steps) else ())]
    commits = (table_format.commit_with(context.session, plan.writes, stamp) for stamp in stamps)
    return next((commit.version for commit in commits if commit is not None), None)


def _is_settled(run: RunContext, context: NodeContext) -> bool:
    try:
        return run.driver.settled(context.session)
    except Exception as error:
        if not from_engine(error):
            raise
        return False


def _explain_error(
    error: EngineError, run: RunContext, plan: NodePlan, context: NodeContext, attempts: Attempts, timed_out: bool
) -> EngineError:
    """Return the error as it is reported: with what is known of the driver, the commit and the duplicate keys."""
    if error.kind is Kind.LOST and not attempts.is_settled():
        error = lost_driver(run.driver, error)
        if attempts.uncertain:
            error.message += "; whether its statement has committed is not known"
    if error.kind is Kind.CANCELLED:
        node = run.prepared.graph.nodes[plan.unique_id]
        error = cancellation(node, plan, context, attempts.find_commit, timed_out)
    if error.code in DUPLICATE_MATCHES:
        name_duplicates(run, plan, context, error)
    return error


def _lock(run: RunContext, plan: NodePlan, shared: bool) -> AbstractContextManager[None]:
    if plan.writes is None or run.warehouse is None:
        return nullcontext()
    return writing(
        run.warehouse,
        plan.writes.name,
        waiting=lambda message: run.events.emit(NodeWaiting(node=plan.unique_id, message=message)),
        cancelled=run.stopping.is_set,
        shared=shared,
        spark=run.driver.spark,
    )


@contextmanager
def _timeout(run: RunContext, node: Node, group: str, timed_out: threading.Event) -> Iterator[None]:
    """Cancel a job group after the `timeout` of its node, and set `timed_out`."""
    seconds = run_config(node).timeout
    if not seconds:
        yield
        return

    def stop() -> None:
        timed_out.set()
        run.driver.cancel(group)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _now() -> datetime:
    return datetime.now(timezone.utc)
