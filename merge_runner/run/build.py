"""Runs selected nodes: plans all of them first, then Spark, then the ready queue; and writes the artifacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.startup import Starting
from merge_runner.engine.tables.branch_catalog import BranchCatalog
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import Node
from merge_runner.graph.naming import audit_table
from merge_runner.graph.streams import streams_read
from merge_runner.plan.branch_plan import check_isolated, is_view, on_branch
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.nodes.maintenance import has_table, is_maintained
from merge_runner.run.execution.dag_run import NodeRun
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.execution.scratch_folder import scratch_folder
from merge_runner.run.node.run_context import Nodes
from merge_runner.run.results.artifacts import plan_nodes
from merge_runner.run.results.audit_rows import audit
from merge_runner.run.results.event_types import Message, Running
from merge_runner.run.results.events import Events
from merge_runner.run.results.invocation import Invocation
from merge_runner.run.results.results import Command, RunResults
from merge_runner.run.scheduling.previous_timings import recorded_durations
from merge_runner.run.settings import RunSettings

_MOST_OTHERS = 3
"""How many drivers take the place of one that is lost: what loses them all would lose the next one."""
TYPES: Mapping[Command, frozenset[str]] = {
    "build": frozenset({"model", "seed", "test", "unit_test"}),
    "run": frozenset({"model"}),
    "test": frozenset({"test", "unit_test"}),
    "optimize": frozenset({"model", "seed"}),
}
"""The resource types that a command runs; others that are selected are passed over."""


def build(
    prepared: Prepared,
    ids: Sequence[str],
    command: Command,
    settings: RunSettings,
    events: Events,
    driver: Driver | None = None,
    starting: Starting | None = None,
) -> RunResults:
    """Runs the selected nodes that `command` is about (`build`: models, seeds and all tests), in DAG order.

    `optimize` compacts the tables of models and seeds instead.

    Nothing runs before everything is rendered and parsed. `driver` is a running one to use, and to leave running;
    `starting` is one on its way, which is used and stopped.
    Raises ProblemsError (nothing has run then) and KeyboardInterrupt (run_results.json holds what was done).
    """
    return _Build(prepared, ids, command, settings, events).run(driver, starting)


class _Build:
    def __init__(
        self, prepared: Prepared, ids: Sequence[str], command: Command, settings: RunSettings, events: Events
    ) -> None:
        self.prepared = prepared
        planned = prepared if settings.branch is None else on_branch(prepared)
        self.command: Command = command
        self.settings = replace(settings, independent=command == "optimize")
        self.made = frozenset(settings.made)
        self.events = events
        self.invocation = Invocation(prepared, command, settings.args, events)
        nodes = planned.graph.nodes
        self.optimizes = command == "optimize"
        chosen = [node for node in ids if nodes[node].resource_type in TYPES[command]]
        self.views = [node for node in chosen if settings.branch is not None and is_view(prepared.graph.nodes[node])]
        self.left_out = [node for node in chosen if self.optimizes and _is_left_out(nodes[node])]
        self.streamed = {node for node in chosen if not self.optimizes and streams_read(nodes, node)}
        self.plans, compile_times = plan_nodes(
            planned,
            [node for node in chosen if node not in self.streamed],
            self.invocation.id,
            settings.maintenance if self.optimizes else None,
        )
        if settings.branch is not None:
            check_isolated(self.plans, nodes)
        durations = recorded_durations(prepared.target_path / "run_results.json")
        nodes_to_run = Nodes(self.plans, compile_times, durations)
        self.node_run = NodeRun(planned, nodes_to_run, self.settings, self.invocation.id, events)

    def run(self, driver: Driver | None, starting: Starting | None) -> RunResults:
        with self.invocation.recorded(self.plans, self.node_run.end):
            self._tell_what_does_not_run()
            if self.plans:
                self._run_nodes(driver, starting)
        return self.invocation.results

    def _tell_what_does_not_run(self) -> None:
        if self.views:
            names = ", ".join(self.prepared.graph.nodes[node].name for node in self.views)
            self.events.emit(Message(f"views have no branches; inlined here, and not defined: {names}"))
        if self.left_out:
            names = ", ".join(self.prepared.graph.nodes[node].name for node in self.left_out)
            self.events.emit(Message(f"left out, as their config says `optimize: false`: {names}"))
        nodes = [self.prepared.graph.nodes[node] for node in self.streamed]
        if nodes:
            names = ", ".join(sorted(node.name for node in nodes if node.materialized != "ephemeral"))
            self.events.emit(Message(f"left to `merge-runner stream`, since a stream feeds them: {names}"))

    def _run_nodes(self, driver: Driver | None, starting: Starting | None) -> None:
        with driving(self.prepared, self.events, driver, starting) as running:
            self.events.emit(Running(nodes=len(self.plans), threads=self.node_run.threads))
            left = self._run_open(running, last=driver is not None)
        for others in range(1, _MOST_OTHERS + 1):
            if not left:
                return
            message = f"the Spark driver is lost: what has not begun ({left}) runs on another one"
            self.events.emit(Message(message, level="warn"))
            try:
                with driving(self.prepared, self.events, None, starting and starting.another()) as running:
                    left = self._run_open(running, last=others == _MOST_OTHERS)
            except ProblemsError as error:
                for problem in error.problems:
                    self.events.emit(Message(f"there is no other one: {problem}", level="error"))
                self.node_run.give_up()
                return

    def _run_open(self, driver: Driver, last: bool) -> int:
        """Runs what has no result yet; gives how many nodes are left because the driver is lost.

        After the `last` driver there is no other one: what is left has failed.
        """
        branch = self.settings.branch
        formats, made = driver.table_format, self.made
        catalog = Catalog(formats, made) if branch is None else BranchCatalog(formats, branch, made)
        self.events.observe(driver)
        with scratch_folder(Scratch.of(self.invocation.id)):
            left = self.node_run.run_open(driver, catalog)
        self.made = catalog.made  # another driver's models must not replace them once more
        if left and not last:
            return left
        self.node_run.give_up()
        self._audit(driver)
        return 0

    def _audit(self, driver: Driver) -> None:
        table = audit_table(self.prepared.files.profile)
        if table is not None and not self.optimizes:  # its rows are about what models did to their rows
            audit(driver, self.prepared, table, self.invocation.id, self.node_run.results, self.events)


def _is_left_out(node: Node) -> bool:
    return has_table(node) and not is_maintained(node)
