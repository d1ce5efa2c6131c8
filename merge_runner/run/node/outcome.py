"""The status and the message of a node that ran, or the place and message of its error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from merge_runner.engine.context import NodeContext
from merge_runner.engine.maintenance import changed_files, in_words
from merge_runner.engine.response import Compaction, MergeFigures, NodeResponse, NoFigures
from merge_runner.engine.spark.errors import EngineError
from merge_runner.formats.failures import Kind
from merge_runner.graph.graph import DataTestNode, Node, UnitTestNode, run_config
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.node.diagnosis import test_message
from merge_runner.run.node.run_context import Nodes, RunContext
from merge_runner.run.results.results import Result, Status, Timing
from merge_runner.run.reuse.decision import ReuseDecision
from merge_runner.text import Place, place_as_json

_ALTERED = 3
"""Alterations that a result's line names; `altered` in the response has all."""


def outcome(context: NodeContext) -> tuple[Status, str]:
    """Return the status of a node whose steps ended without an error, and the text of its result line."""
    response = context.output.response
    if context.output.no_op is not None:
        return "no-op", context.output.no_op + _left_out(response)
    if context.output.tested is not None:
        return context.output.tested.verdict, context.output.tested.words or ""
    if response.operation == "MERGE":
        figures = response.merge or MergeFigures.unknown()
        counts = (
            (figures.rows_inserted, "inserted"),
            (figures.rows_updated, "updated"),
            (figures.rows_deleted, "deleted"),
        )
        parts = [f"{count:,} {kind}" for count, kind in counts if count is not None]
        lost = response.target is not None and response.target.history_replaced
        first = "; the history that the table held is replaced" if lost else ""
        first += "; first run" if response.is_incremental is False else ""
        scan = _bounds(response, context.output.bounds_news)
        return "success", ", ".join(parts) + first + scan + _alterations(response) + _compaction(response)
    statement = response.statement
    if isinstance(statement, Compaction):
        status: Status = "success" if changed_files(statement, response.vacuum) else "no-op"
        return status, in_words(statement, response.vacuum)
    if statement is not None and (rows := statement.rows_affected) is not None:
        return "success", f"{rows:,} row{'' if rows == 1 else 's'}"
    return "success", ""


def _left_out(response: NodeResponse) -> str:
    """Return that hooks before a MERGE that has committed already did not run."""
    count = response.pre_hooks_left_out
    if not count:
        return ""
    hooks = "its pre_hook does" if count == 1 else f"{count} of its pre_hooks do"
    return f"; {hooks} not run again, post_hooks do"


def _bounds(response: NodeResponse, news: Sequence[str]) -> str:
    """Return what bounded the scan, and those reasons for no bounds that are not the same on every run."""
    bounds = response.runtime_filter.bounds if response.runtime_filter is not None else {}
    bounded = "".join(f"; {column} bounded to {words}" for column, words in bounds.items())
    return bounded + "".join(f"; no bounds: {reason}" for reason in news)


def _alterations(response: NodeResponse) -> str:
    """Return what was altered of the table before, as one part of the line."""
    words = (response.target.altered if response.target is not None else None) or ()
    more = f" and {len(words) - _ALTERED} more" if len(words) > _ALTERED else ""
    return f"; altered: {', '.join(words[:_ALTERED])}{more}" if words else ""


def _compaction(response: NodeResponse) -> str:
    """The effect on the table's files of the maintenance afterwards, where there was something to do."""
    compaction = response.optimized
    return f"; optimized: {in_words(compaction)}" if compaction and changed_files(compaction) else ""


def error_message(error: EngineError, where: Place | str | None) -> str:
    """Return what an error says, after its place or file where it is one of the statement or its data."""
    return str(error) if where is None or error.kind is not Kind.USER else f"{where}: {error}"


def error_place(error: EngineError, plan: NodePlan, node: Node) -> Place | None:
    """Return where an error is: where the engine says in the plan's text, else the place of the test; None: unknown."""
    where = error.place or plan.locate(error.statement, error.offset)
    return node.place if where is None and isinstance(node, DataTestNode | UnitTestNode) else where


def cancellation(
    node: Node, plan: NodePlan, context: NodeContext, committed: Callable[[], int | None], timed_out: bool
) -> EngineError:
    """Return the error of a node that was stopped; `committed` reads from the table whether its statement committed."""
    reason = f"stopped after its timeout of {run_config(node).timeout} s" if timed_out else "cancelled"
    code = "timeout" if timed_out else "cancelled"
    if plan.maintains or isinstance(node, DataTestNode):
        return EngineError(code, f"{reason}; the rows are what they were", kind=Kind.CANCELLED)
    try:
        version = committed()
    except EngineError as unanswered:
        fate = f"whether its statement has committed is not known: the table says {unanswered.message}"
    else:
        fate = "nothing was committed" if version is None else f"its statement had committed as version {version}"
        if version is not None:
            context.output.response.found_commit(version)
    return EngineError(code, f"{reason}; {fate}", kind=Kind.CANCELLED)


def left_out_result(node: Node, nodes: Nodes, plan: NodePlan, decision: ReuseDecision, started: datetime) -> Result:
    """Return the result of a node that did not run, as another run of it would do nothing, or it waits."""
    compiled = nodes.compile_times.get(plan.unique_id)
    timing = Timing("execute", started, datetime.now(timezone.utc))
    merges = any(isinstance(step, RunMerge) for step in plan.steps)
    figures = NoFigures("MERGE" if merges else None, 0 if merges else None, decision.version)
    return Result(
        node.unique_id,
        "no-op",
        timing=(compiled, timing) if compiled else (timing,),
        thread_id=threading.current_thread().name,
        response=NodeResponse(statement=figures),
        message=decision.because,
        compiled_code=plan.sql or None,
        relation_name=str(node.relation) if node.relation else None,
        plan=plan,
    )


def result_of(
    run: RunContext, plan: NodePlan, context: NodeContext, timing: Timing, tries: int, error: EngineError | None
) -> Result:
    """Return the result of a node that ran in this thread; `error` is why it failed, None: it did not."""
    node = run.prepared.graph.nodes[plan.unique_id]
    compiled = run.nodes.compile_times.get(plan.unique_id)
    response = replace(context.output.response)
    if response.operation is not None or tries:
        response.attempts = max(1, tries)
    if error is not None:
        status: Status = "error"
        where = error_place(error, plan, node)
        message = error_message(error, where or node.path)
        if where is not None:
            response.place = place_as_json(where)
    elif context.output.tested is not None and isinstance(node, DataTestNode):
        status = context.output.tested.verdict
        message = test_message(run, node, plan, context, context.output.tested, response) if status != "pass" else ""
    else:
        status, message = outcome(context)
    return Result(
        node.unique_id,
        status,
        timing=(compiled, timing) if compiled else (timing,),
        thread_id=threading.current_thread().name,
        response=response,
        message=message,
        failures=context.output.tested.failures if context.output.tested else None,
        compiled_code=plan.sql or None,
        relation_name=str(node.relation) if node.relation else None,
        warnings=tuple(context.output.warnings),
        plan=plan,
    )
