"""What `clone` does with a node: a shallow clone of its table in an earlier state, a branch of it, or its view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import RefNode
from merge_runner.graph.naming import table_location
from merge_runner.plan.layout.table_layout import own_relation, table_layout
from merge_runner.plan.load.compiler import is_rebuilt
from merge_runner.plan.load.defer import BuiltNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import AttachInputs, TableInput
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CloneTable, CreateBranch

NO_TABLE = ("view", "ephemeral")


def clone_plan(prepared: Prepared, node: RefNode, built_nodes: Mapping[str, BuiltNode]) -> NodePlan | None:
    """Return the plan of a node whose table is cloned from that of `built_nodes`; None where they have no such table.

    Raises ProblemsError where the table cannot be cloned, or would be cloned onto itself.
    """
    source = built_nodes.get(node.unique_id)
    if source is None or source.materialized in NO_TABLE or node.materialized in NO_TABLE:
        return None
    relation, profile = own_relation(node), prepared.files.profile
    if source.relation.name.casefold() == relation.name.casefold():
        message = f"{relation.name} is the table of --state itself"
        hint = "clone into another target, with another schema: -t dev"
        raise ProblemsError([Problem("not-cloned", message, node.place, hint)])
    if not capabilities(source.format).shallow_clone or source.format != node.config.format:
        message = f"{source.relation.name} is {capabilities(source.format).a_table}, which Spark cannot clone here"
        hint = f"leave it out (--exclude {node.name}): `build --defer --state DIR` reads it where it is"
        raise ProblemsError([Problem("not-cloned", message, node.place, hint)])
    location = table_location(prepared.files.root, profile, source.relation, source.format)
    replaces = is_rebuilt(node, prepared.invocation)
    layout = table_layout(prepared, node)
    return NodePlan(
        node.unique_id,
        (
            AttachInputs((TableInput(source.relation, source.format, location),)),
            CloneTable(replace(layout, properties={}), source.relation, replaces),
        ),
        writes=relation,
    )


def branch_plan(prepared: Prepared, node: RefNode, branch: str) -> NodePlan | None:
    """Return the plan of a node whose table gets a branch; None where it has no table.

    Raises ProblemsError where the format has no branches.
    """
    if node.materialized in NO_TABLE:
        return None
    format = capabilities(node.config.format)
    if not format.has_branches:
        message = f"{node.name} is {format.a_table}, which has no branches"
        hint = f"leave it out (--exclude {node.name}): `clone --state DIR` clones it into another target"
        raise ProblemsError([Problem("no-branches", message, node.place, hint)])
    layout = table_layout(prepared, node)
    step = CreateBranch(layout, branch, is_rebuilt(node, prepared.invocation))
    return NodePlan(node.unique_id, (step,), writes=own_relation(node))
