"""What a build on a branch of its Iceberg tables (write-audit-publish) plans otherwise than one on main.

Data is all that a branch isolates. What else would change for everyone is left out where that can be, and refused where
it cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import DataTestNode, Graph, Node, RefNode, run_config
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.maintenance import has_table
from merge_runner.plan.steps.node_plan import NodePlan


def on_branch(prepared: Prepared) -> Prepared:
    """Return the project as a build on a branch plans it: views are inlined as subqueries, as ephemeral models are.

    A view has no branches: to define it would change what everybody reads, and to read it as it is would leave the
    project's own text of it untested. No table is compacted: Iceberg's procedures work on main. Failing rows of tests
    are not stored: their tables are no part of the branch.
    """
    graph = prepared.graph
    nodes = {unique_id: _isolated(node) for unique_id, node in graph.nodes.items()}
    return replace(prepared, graph=replace(graph, nodes=nodes))


def _isolated(node: Node) -> Node:
    if isinstance(node, RefNode):
        changed = {"materialized": "ephemeral"} if is_view(node) else {"optimize": False}
        return replace(node, config=replace(node.config, **changed))
    if isinstance(node, DataTestNode):
        return replace(node, config=replace(node.config, store_failures=False))
    return node


def is_view(node: Node) -> bool:
    """Whether a node is a model that is a view."""
    return node.materialized == "view"


def _has_branches(node: Node) -> bool:
    return capabilities(run_config(node).format).has_branches


def check_isolated(plans: Mapping[str, NodePlan], nodes: Mapping[str, Node]) -> None:
    """Raises ProblemsError with every node that writes a table which has no branches."""
    problems = [
        Problem(
            "no-branches",
            f"{node.name} writes a {run_config(node).format} table, which has no branches: its readers would "
            "see the rows immediately",
            node.place,
            "leave it out (--exclude: what reads it reads it as it is), or give it `format: iceberg`",
        )
        for unique_id, plan in plans.items()
        if plan.writes is not None and not _has_branches(node := nodes[unique_id])
    ]
    if problems:
        raise ProblemsError(problems)


def branchable(graph: Graph, ids: Iterable[str]) -> Iterator[Node]:
    """The nodes among `ids` whose tables have branches, one for each table, in the given order."""
    seen = set()
    for node in (graph.nodes[unique_id] for unique_id in ids):
        if not has_table(node) or not _has_branches(node) or node.relation is None:
            continue
        if node.relation.name.casefold() not in seen:
            seen.add(node.relation.name.casefold())
            yield node
