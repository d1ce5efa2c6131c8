"""Plans of the selected nodes, and the files that are written of them: compiled texts and the manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone

from merge_runner.atomic import write_atomic
from merge_runner.engine.tables.first_run import built_in_warehouse
from merge_runner.errors import Problems, ProblemsError
from merge_runner.graph.artifact import Metadata
from merge_runner.graph.graph import AnalysisNode, UnitTestNode
from merge_runner.graph.manifest import CompiledText, manifest
from merge_runner.plan.load.defer import BuiltNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.input_caching import with_shared_inputs
from merge_runner.plan.nodes.maintenance import Maintenance
from merge_runner.plan.plan import Planner, asked_first
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.results.results import Timing
from merge_runner.version import version


def plan_nodes(
    prepared: Prepared,
    ids: Iterable[str],
    invocation_id: str,
    maintenance: Maintenance | None = None,
    clones: Mapping[str, BuiltNode] | None = None,
    new_branch: str | None = None,
) -> tuple[dict[str, NodePlan], dict[str, Timing]]:
    """Plans of the nodes that have one, and how long each took to compile; with `maintenance`, of their tables' alone.

    With `clones` the plans clone the tables of these, and define views; with `new_branch` they make this branch.

    Raises ProblemsError with the problems of all texts: nothing has run then.
    """
    planner = Planner(prepared, invocation_id)
    problems = Problems()
    with problems.collecting():
        prepared.templates.check()
    plans, times = {}, {}
    for unique_id in ids:
        started = datetime.now(timezone.utc)
        with problems.collecting():
            if maintenance is not None:
                plan = planner.maintenance(unique_id, maintenance)
            elif new_branch is not None:
                plan = planner.branch(unique_id, new_branch)
            else:
                plan = planner.plan(unique_id) if clones is None else planner.clone(unique_id, clones)
            if plan is not None:
                plans[unique_id] = plan
        times[unique_id] = Timing("compile", started, datetime.now(timezone.utc))
    problems.check()
    runs = maintenance is None and clones is None and new_branch is None
    return with_shared_inputs(prepared, plans) if runs else plans, times


def compile_nodes(
    prepared: Prepared, ids: Iterable[str], invocation_id: str, say: Callable[[str], None] = lambda _: None
) -> dict[str, str]:
    """Write target/compiled and the manifest; return compiled texts by node, without secrets. Raises ProblemsError.

    Of a model whose first run differs the text is that of a first run where its table is known never to have been
    built, else that of an incremental run; `say` is called with what is shown, and what is not: texts that depend on
    what a query returns.
    """
    ids = tuple(ids)
    plans, _ = plan_nodes(prepared, ids, invocation_id)
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


def write_texts(prepared: Prepared, plans: Mapping[str, NodePlan], folders: Iterable[str]) -> None:
    """Writes the compiled texts below target/<folder>/<project>, at the paths of the authors' files."""
    root = prepared.target_path
    for unique_id, plan in plans.items():
        if plan.sql:
            for folder in folders:
                path = root / folder / compiled_path(prepared, unique_id)
                write_atomic(path, prepared.conceal(plan.sql), below=root)


def write_running_plan(prepared: Prepared, planned: NodePlan, running: NodePlan) -> None:
    """Write the text of the plan that runs of a node that has several, and log what its template logs."""
    if running is not planned and running.rendered is not None:
        for log in running.rendered.logs:  # those of the other text were logged when it was planned
            prepared.on_log(log)
    write_texts(prepared, {running.unique_id: running}, ("compiled", "run"))


def write_run_text(prepared: Prepared, unique_id: str, text: str) -> None:
    """Replaces the text below target/run by that which runs, bounds and pinned versions included."""
    path = prepared.target_path / "run" / compiled_path(prepared, unique_id)
    write_atomic(path, prepared.conceal(text), below=prepared.target_path)


def text_path(prepared: Prepared, unique_id: str, folder: str) -> str:
    """Return the path of a node's text in `compiled` or `run`, relative to the project where target/ is in it."""
    path = prepared.target_path / folder / compiled_path(prepared, unique_id)
    root = prepared.files.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def compiled_path(prepared: Prepared, unique_id: str) -> str:
    """The path of a node's compiled text below target/compiled and target/run."""
    node = prepared.graph.nodes[unique_id]
    name = node.path
    if isinstance(node, UnitTestNode):
        # Names of unit tests are free text, and several models may use the same one.
        name += f"/{node.unit_test.model}.{re.sub(r'[^A-Za-z0-9_]+', '_', node.name)}.sql"
    elif not name.endswith(".sql"):
        digest = unique_id.rpartition(".")[2]
        name += f"/{node.name}{f'_{digest}' if unique_id in prepared.graph.tests_of_one_name else ''}.sql"
    return f"{prepared.graph.project}/{name}"


def write_manifest(prepared: Prepared, invocation_id: str, plans: Mapping[str, NodePlan] | None = None) -> None:
    """Replaces target/manifest.json in one step."""
    compiled = {
        unique_id: CompiledText(plan.sql, f"{prepared.target_path.name}/compiled/{compiled_path(prepared, unique_id)}")
        for unique_id, plan in (plans or {}).items()
        if plan.sql
    }
    metadata = Metadata(datetime.now(timezone.utc), invocation_id, version())
    files = prepared.files
    document = manifest(prepared.graph, metadata, compiled=compiled, selectors=files.selectors, groups=files.groups)
    write_atomic(prepared.target_path / "manifest.json", json.dumps(prepared.concealed(document), default=str))
