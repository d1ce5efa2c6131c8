"""Runs selected nodes: plans all of them first, then Spark, then the ready queue; and writes the artifacts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.tables.branch_catalog import BranchCatalog
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import Node
from merge_runner.graph.naming import audit_table
from merge_runner.graph.streams import streams_read
from merge_runner.pages.runs.history import kept_runs
from merge_runner.plan.branch_plan import check_isolated, is_view, on_branch
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.nodes.maintenance import has_table, is_maintained
from merge_runner.relation import Relation
from merge_runner.run.batches.batch_jobs import check_batch_options
from merge_runner.run.diff.diff import compare_with_before
from merge_runner.run.execution.dag_run import NodeRun
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.execution.run_hooks import RunHooks
from merge_runner.run.execution.scratch_folder import scratch_folder
from merge_runner.run.node.run_context import Nodes
from merge_runner.run.node_plans import plan_nodes
from merge_runner.run.results.audit_rows import audit
from merge_runner.run.results.audited_runs import restore_runs
from merge_runner.run.results.event_types import Message, Running
from merge_runner.run.results.events import Events
from merge_runner.run.results.invocation import Invocation
from merge_runner.run.results.past_merges import past_merges
from merge_runner.run.results.previous_run import recorded_durations
from merge_runner.run.results.results import TYPES, Command, RunResults
from merge_runner.run.results.table_versions import has_written, read_versions
from merge_runner.run.reuse.reuse import Reuse
from merge_runner.run.settings import RunSettings

_MOST_OTHERS = 3
"""How many drivers take the place of one that is lost: what loses them all would lose the next one."""


def build(
    prepared: Prepared,
    ids: Sequence[str],
    command: Command,
    settings: RunSettings,
    events: Events,
    source: DriverSource,
) -> RunResults:
    """Runs the selected nodes that `command` is about (`build`: models, seeds and all tests), in DAG order.

    `optimize` compacts the tables of models and seeds instead, `clone` clones those of `settings.clones`, or
    makes the branch `settings.new_branch` of their tables.

    Nothing runs before everything is rendered and parsed. `source` is used as `driving` uses it.
    Raises ProblemsError (nothing has run then) and KeyboardInterrupt (run_results.json holds what was done).
    """
    optimizes, on_a_branch = command == "optimize", settings.branch is not None
    settings = replace(settings, independent=optimizes)
    planned = on_branch(prepared) if on_a_branch else prepared
    nodes, profile = planned.graph.nodes, prepared.files.profile
    invocation = Invocation(prepared, command, settings.args, events)
    run_nodes = [node for node in ids if nodes[node].resource_type in TYPES[command]]
    views = [node for node in run_nodes if on_a_branch and is_view(prepared.graph.nodes[node])]
    left_out = [node for node in run_nodes if optimizes and _is_left_out(nodes[node])]
    streamed = {node for node in run_nodes if not optimizes and streams_read(nodes, node)}
    plans, compile_times = plan_nodes(
        planned,
        [node for node in run_nodes if node not in streamed],
        invocation.id,
        settings.maintenance,
        settings.clones,
        settings.new_branch,
    )
    if on_a_branch:
        check_isolated(plans, nodes)
    check_batch_options(planned, plans, settings, is_full_refresh=prepared.invocation.full_refresh)
    hooks = RunHooks(planned, invocation, command, events)
    hooks.check()
    durations = recorded_durations(prepared.target_path / "run_results.json")
    reuse = _reuse(planned, command, settings, invocation.id)
    history = cache(partial(past_merges, prepared.target_path, profile.target))
    node_run = NodeRun(planned, Nodes(plans, compile_times, durations, history), settings, invocation.id, events, reuse)
    with invocation.record_run(plans, node_run.end, lambda: node_run.waits_for):
        for text in _not_run(prepared.graph.nodes, views, left_out, streamed):
            events.emit(Message(text))
        if plans:
            at_end = partial(_keep, node_run, prepared, invocation, None if optimizes else audit_table(profile))
            try:
                if not source.is_own or not node_run.leave_out():
                    _run_on_drivers(node_run, hooks, prepared, at_end, source)
            finally:
                _save(reuse, events)
    return invocation.results


def _reuse(prepared: Prepared, command: Command, settings: RunSettings, id: str) -> Reuse | None:
    """Return what decides which nodes need not run; None where all are to run."""
    has_own_record = settings.batch_id is not None or settings.branch is not None
    if command not in ("build", "run") or settings.reuse == "off" or has_own_record:
        return None
    return Reuse(prepared, settings.reuse, id)


def _save(reuse: Reuse | None, events: Events) -> None:
    try:
        if reuse is not None:
            reuse.save()
    except OSError as error:
        events.emit(Message(f"{error.filename}: {error.strerror}: the next build runs what this one ran", level="warn"))


def _keep(
    node_run: NodeRun, prepared: Prepared, invocation: Invocation, table: Relation | None, driver: Driver
) -> None:
    """Keep what a run has done, as long as its driver can be asked. `table` is the audit table, for what models did."""
    if table is not None and next(kept_runs(prepared.target_path), None) is None:
        restore_runs(driver, prepared, table)
    if node_run.settings.branch is None:
        read_versions(driver, prepared, node_run.results, node_run.events)
    if table is not None:
        record = invocation.record(node_run.results, node_run.waits_for)
        audit(driver, prepared, table, node_run.results, record, node_run.events)
    if node_run.settings.compares_tables:
        ids = [result.unique_id for result in node_run.results if has_written(result)]
        compare_with_before(prepared, ids, node_run.id, node_run.events, driver)


def _run_on_drivers(
    node_run: NodeRun,
    hooks: RunHooks,
    prepared: Prepared,
    at_end: Callable[[Driver], None],
    source: DriverSource,
) -> None:
    """Run the nodes on the driver of `source`; where it is an own one and is lost, run what has not begun on another.

    After the last one, what is left has failed. `hooks` run before the first node and after the last. `at_end` is
    called with the driver that has run the last node.
    """
    events, branch, recreated = node_run.events, node_run.settings.branch, node_run.settings.recreated_tables
    for others in range(_MOST_OTHERS + 1):
        try:
            with driving(prepared, events, source) as running:
                if others == 0:
                    events.emit(Running(nodes=len(node_run.plans), threads=node_run.threads))
                formats = running.table_format
                catalog = Catalog(formats, recreated) if branch is None else BranchCatalog(formats, branch, recreated)
                events.observe(running)
                left = 0
                if others > 0 or hooks.start(running, catalog, node_run.plans):
                    with scratch_folder(Scratch.of(node_run.id)):
                        left = node_run.run_open(running, catalog)
                else:
                    node_run.skip_all("on-run-start failed")
                if not left or not source.is_own or others == _MOST_OTHERS:
                    node_run.give_up()
                    hooks.end(running, catalog, node_run.results)
                    at_end(running)
                    return
        except ProblemsError as error:
            if others == 0:
                raise
            for problem in error.problems:
                events.emit(Message(f"there is no other one: {problem}", level="error"))
            node_run.give_up()
            return
        events.emit(Message(f"the Spark driver is lost: what has not begun ({left}) runs on another one", level="warn"))
        source = source.another()
        recreated = tuple(catalog.recreated_tables)  # another driver's models must not replace them once more


def _not_run(
    nodes: Mapping[str, Node], views: Sequence[str], left_out: Sequence[str], streamed: Collection[str]
) -> Iterator[str]:
    """Yield what is reported of the selected nodes that do not run."""
    if views:
        yield f"views have no branches; inlined here, and not defined: {', '.join(nodes[node].name for node in views)}"
    if left_out:
        names = ", ".join(nodes[node].name for node in left_out)
        yield f"left out, as their config says `optimize: false`: {names}"
    if streamed:
        names = ", ".join(sorted(nodes[node].name for node in streamed if nodes[node].materialized != "ephemeral"))
        yield f"left to `merge-runner stream`, since a stream feeds them: {names}"


def _is_left_out(node: Node) -> bool:
    return has_table(node) and not is_maintained(node)
