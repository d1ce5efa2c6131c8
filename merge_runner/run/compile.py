"""What `compile` does: the texts of nodes are rendered, written and shown, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from merge_runner.engine.tables.first_run import built_in_warehouse
from merge_runner.errors import Problems, ProblemsError
from merge_runner.graph.graph import AnalysisNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.plan import asked_first
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.node_plans import plan_nodes
from merge_runner.run.results.artifacts import write_manifest, write_texts


def compile_nodes(
    prepared: Prepared, ids: Iterable[str], invocation_id: str, say: Callable[[str], None] = lambda _: None
) -> dict[str, str]:
    """Write target/compiled and the manifest; return compiled texts by node, without secrets. Raises ProblemsError.

    Of a model whose first run differs the text is that of a first run where its table is known never to have been
    built, else that of an incremental run; `say` is called with what is shown, and what is not: texts that depend on
    what a query returns.
    """
    ids = tuple(ids)
    plans = plan_nodes(prepared, ids, invocation_id).plans
    plans = _plans_to_show(prepared, {**plans, **_analyses(prepared, ids)}, say)
    write_texts(prepared, plans, ("compiled",))
    write_manifest(prepared, invocation_id, plans)
    return {node: prepared.conceal(plan.sql) for node, plan in plans.items() if plan.sql}


def _analyses(prepared: Prepared, ids: Iterable[str]) -> dict[str, NodePlan]:
    """Return the texts of analyses as plans without steps: they are compiled, and nothing runs them."""
    problems, plans = Problems(), {}
    for unique_id in ids:
        if isinstance(prepared.graph.nodes[unique_id], AnalysisNode):
            with problems.collecting():
                try:
                    rendered = prepared.compiler.render(unique_id)
                except ProblemsError as error:
                    plans[unique_id] = NodePlan(unique_id, (), asks=asked_first(error))
                else:
                    plans[unique_id] = NodePlan(unique_id, (), rendered, rendered.text)
    problems.check()
    return plans


def _plans_to_show(
    prepared: Prepared, plans: Mapping[str, NodePlan], say: Callable[[str], None]
) -> dict[str, NodePlan]:
    shown = dict(plans)
    names: dict[bool | None, list[str]] = {False: [], None: []}
    for unique_id, plan in plans.items():
        if plan.first_run is None:
            continue
        is_built = built_in_warehouse(plan)
        if is_built is not True:
            names[is_built].append(prepared.graph.nodes[unique_id].name)
        if is_built is False:
            shown[unique_id] = plan.first_run.plan
    if names[False]:
        say(f"compiled for a first run, as their tables were never built: {', '.join(names[False])}")
    asking = [(prepared.graph.nodes[unique_id].name, plan.asks) for unique_id, plan in shown.items() if plan.asks]
    if asking:
        names_with_place = ", ".join(f"{name} ({problem.place})" for name, problem in asking)
        say(f"not compiled, as the text depends on what a query returns: {names_with_place}")
    if names[None]:
        how = "whether they were built is read when they run"
        say(f"compiled for an incremental run ({how}): {', '.join(names[None])}")
    return shown
