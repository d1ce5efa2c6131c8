"""Short queries after a node failed: the duplicate keys of a MERGE, the failing rows of a test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from merge_runner.engine.context import NodeContext, TestOutcome
from merge_runner.engine.merge.duplicate_matches import duplicate_matches, several_matches
from merge_runner.engine.model_tests.data_test import read_failing_rows
from merge_runner.engine.response import NodeResponse
from merge_runner.engine.spark.errors import EngineError, engine_error, from_engine
from merge_runner.formats.failures import Kind
from merge_runner.graph.graph import DataTestNode
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.node.run_context import RunContext
from merge_runner.run.results.artifacts import text_path
from merge_runner.run.results.test_message import failing_rows, heading, rows_and_query
from merge_runner.text import place_as_json

_LONGEST = 20.0
"""Seconds to find out why a statement failed."""


def name_duplicates(run: RunContext, plan: NodePlan, context: NodeContext, error: EngineError) -> None:
    """Add to the error the place of ON, and the duplicate keys where a short query finds them."""
    step = next((step for step in plan.steps if isinstance(step, RunMerge)), None)
    if step is None:
        return
    error.place = error.place or plan.locate(step.sql, step.judged.statement.on_span.start)
    if run.stopping.is_set():
        return
    try:
        with _limited(run, context, "duplicates"):
            duplicates = duplicate_matches(context.session, step.target, step.judged.statement, step.judged.scope)
    except Exception as failure:
        if not from_engine(failure):
            raise
        return  # the engine's own error is kept
    if duplicates:
        error.message = several_matches(duplicates)


def test_message(
    run: RunContext,
    node: DataTestNode,
    plan: NodePlan,
    context: NodeContext,
    tested: TestOutcome,
    response: NodeResponse,
) -> str:
    """Return the message of a data test that does not pass; its parts are added to the response."""
    prepared, nodes = run.prepared, run.prepared.graph.nodes
    rows = failing_rows(node, nodes, _failing_rows(run, context, tested), prepared.conceal)
    query = text_path(prepared, node.unique_id, "compiled")
    response.failing, response.place = replace(rows, compiled_path=query), place_as_json(node.place)
    kept_in = response.test.failures_table if response.test is not None else None
    first = heading(node, nodes, tested.failures, kept_in)
    return "\n".join((first, *rows_and_query(rows.failing_rows, rows.more_failing_rows, query)))


def _failing_rows(run: RunContext, context: NodeContext, tested: TestOutcome) -> tuple[str, ...]:
    """Return a few failing rows of a test as JSON texts, where they can be read in a short time."""
    if tested.unread is None or run.stopping.is_set():
        return tested.rows
    try:
        with _limited(run, context, "failing rows"):
            return read_failing_rows(context.session, tested.unread)
    except Exception as failure:
        if not from_engine(failure):
            raise
        error = engine_error(failure)
        late = error.kind is Kind.CANCELLED
        reason = f"this took more than {_LONGEST:.0f} s" if late else str(error)
        context.output.warnings.append(f"the failing rows are not shown: {reason}")
        return ()


@contextmanager
def _limited(run: RunContext, context: NodeContext, about: str) -> Iterator[None]:
    """Cancel what runs inside after a while."""
    group = run.diagnosis_group(context.node)
    timer = threading.Timer(_LONGEST, run.driver.cancel, [group])
    timer.daemon = True
    timer.start()
    try:
        with run.driver.job_group(context.session, group, f"{context.description} {about}"):
            yield
    finally:
        timer.cancel()
