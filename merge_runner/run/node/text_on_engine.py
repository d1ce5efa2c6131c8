"""Lets the texts of a node ask the engine, in a session in which it runs or is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from merge_runner.engine.context import NodeContext
from merge_runner.engine.operation import Statements
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import set_confs
from merge_runner.engine.steps.hooks import has_merged, is_of_the_session
from merge_runner.engine.table_format.commit_metadata import of_hook, stamp_confs
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import ModelNode, RefNode
from merge_runner.plan.layout.table_layout import table_layout
from merge_runner.plan.load.compiler import is_rebuilt
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.inputs import Inputs
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.template.outcome import RefusedError


def planned_on_engine(prepared: Prepared, unique_id: str, context: NodeContext, *, first_run: bool) -> NodePlan:
    """Return the plan of a node, with its text as its queries have it.

    `first_run`: its table was never built. The queries run once, whatever is tried again of the node: they may be any
    statements. What they commit does not carry the stamp of the node's own statement. Raises EngineError for what can
    be known only now: the problems of the text, and config or edges that depend on what a query returns.
    """
    set_confs(context.session, stamp_confs(of_hook(context.stamp, "run_query")))
    statements = Statements(
        *(context.session, context.catalog, lambda _log: None),  # the text that runs is logged
        queries_only=prepared.flags.queries_only,
    )
    node = prepared.graph.nodes[unique_id]
    if isinstance(node, ModelNode) and node.materialized == "merge":
        layout, rebuilt = table_layout(prepared, node), is_rebuilt(node, prepared.invocation)
        if (context.earlier or context.batch) and has_merged(layout, context, replace=rebuilt):
            # As a pre_hook, such a statement would take out of the table what no MERGE puts back.
            statements.left_out = lambda text: not is_of_the_session(text)
    with asking(prepared, unique_id, statements, first_run=first_run) as project:
        plan = Planner(project).plan(unique_id)
    set_confs(context.session, stamp_confs(context.stamp))
    assert plan is not None, f"{unique_id} has no steps"
    return plan


@contextmanager
def asking(
    prepared: Prepared, unique_id: str, statements: Statements, *, first_run: bool = False
) -> Iterator[Prepared]:
    """The project as it is inside the block: there the texts of one node ask the engine. Raises EngineError."""
    on_read = attacher(prepared, statements)
    if isinstance(prepared.graph.nodes[unique_id], RefNode):
        on_read(unique_id)  # they may read `this`
    with engine_problems(statements):
        yield prepared.asking_for(unique_id, statements, on_read, first_run=first_run)


def attacher(prepared: Prepared, statements: Statements) -> Callable[[str], None]:
    """Return what is called with the id of a node that the next statement may read."""
    inputs = Inputs(prepared)

    def attach(unique_id: str) -> None:
        statements.to_attach.extend(inputs.attach([unique_id]).inputs)

    return attach


@contextmanager
def engine_problems(statements: Statements) -> Iterator[None]:
    """Raise the problems of texts that ask the engine as an EngineError, the engine's own where that ended them."""
    try:
        yield
    except RefusedError as error:
        raise statements.refused or EngineError(error.code, str(error)) from error
    except ProblemsError as error:
        problem = error.problems[0]
        if statements.refused is not None:
            statements.refused.place = problem.place
            raise statements.refused from error
        raise EngineError.of(problem) from error
