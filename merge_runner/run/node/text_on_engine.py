"""Makes the plan of a node whose text depends on what a query returns: its queries run in the node's session."""

from __future__ import annotations

from merge_runner.engine.context import NodeContext
from merge_runner.engine.operation import Statements
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import set_confs
from merge_runner.engine.table_format.commit_metadata import of_hook, stamp_confs
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import RefNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.inputs import Inputs
from merge_runner.plan.plan_asking import plan_asking
from merge_runner.plan.steps.node_plan import NodePlan


def planned_on_engine(prepared: Prepared, unique_id: str, context: NodeContext, *, first_run: bool) -> NodePlan:
    """Return the plan of a node, with its text as its queries have it.

    The queries run once, whatever is tried again of the node: they may be any statements. What they commit does not
    carry the stamp of the node's own statement. Raises EngineError.
    """
    node, inputs = prepared.graph.nodes[unique_id], Inputs(prepared)
    statements = Statements(context.session, context.catalog, on_log=lambda _log: None)

    def read(parent: str) -> None:
        statements.to_attach.extend(inputs.attach([parent]).inputs)

    if isinstance(node, RefNode):
        read(unique_id)  # they may read `this`
    set_confs(context.session, stamp_confs(of_hook(context.stamp, "run_query")))
    try:
        plan = plan_asking(prepared, unique_id, statements, read, first_run=first_run)
    except ProblemsError as error:
        problem = error.problems[0]
        if statements.refused is not None:
            statements.refused.place = problem.place
            raise statements.refused from error
        raise EngineError.of(problem) from error
    set_confs(context.session, stamp_confs(context.stamp))
    return plan
