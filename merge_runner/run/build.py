"""Runs selected nodes: plans all of them first, then Spark, then the ready queue; and writes the artifacts."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from merge_runner.engine.batches import Batch
from merge_runner.engine.driver import Driver
from merge_runner.engine.session import Starting
from merge_runner.engine.tables import Catalog
from merge_runner.errors import ProblemsError
from merge_runner.graph.naming import audit_table
from merge_runner.plan.prepare import Prepared
from merge_runner.run.artifacts import plan_nodes, write_manifest, write_texts
from merge_runner.run.audit import audit
from merge_runner.run.driving import driving
from merge_runner.run.durations import recorded_durations
from merge_runner.run.events import Events
from merge_runner.run.journal import Journal
from merge_runner.run.node_run import NodeRun, Nodes, Terms, thread_count
from merge_runner.run.results import RunResults, write_run_results
from merge_runner.run.summary import ROWS, summary
from merge_runner.version import version

Command = Literal["build", "run", "test"]
_TYPES: Mapping[Command, frozenset[str]] = {
    "build": frozenset({"model", "seed", "test"}),
    "run": frozenset({"model"}),
    "test": frozenset({"test"}),
}


@dataclass(frozen=True)
class Options:
    """How to run. `threads` None: the profile's. `batch_id`: every MERGE is stamped with it, and
    commits once for it. `args` are the invocation's own words, kept in run_results.json.

    `begun` are nodes whose statement may have committed in an earlier invocation, with the ids of these invocations.
    `observe` is given the driver once it runs, to show what it does.
    """

    threads: int | None = None
    batch_id: int | None = None
    fail_fast: bool = False
    args: Mapping[str, Any] = field(default_factory=dict)
    begun: Mapping[str, Sequence[str]] = field(default_factory=dict)
    observe: Callable[[Driver], None] = lambda _: None


def build(
    prepared: Prepared,
    ids: Sequence[str],
    command: Command,
    options: Options,
    events: Events,
    driver: Driver | None = None,
    starting: Starting | None = None,
) -> RunResults:
    """Runs the selected nodes that `command` is about (`build`: models, seeds and tests), in DAG order.

    Nothing runs before everything is rendered and parsed. `driver` is a running one to use, and to leave running;
    `starting` is one on its way, which is used and stopped.
    Raises ProblemsError (nothing has run then) and KeyboardInterrupt (run_results.json holds what was done).
    """
    return _Build(prepared, ids, command, options, events).run(driver, starting)


class _Build:
    def __init__(
        self, prepared: Prepared, ids: Sequence[str], command: Command, options: Options, events: Events
    ) -> None:
        self.prepared = prepared
        self.graph = prepared.graph
        self.command: Command = command
        self.options = options
        self.events = events
        self.invocation_id = str(uuid.uuid4())
        self.started_at = _now()
        self.unit_tests = sum(self.graph.nodes[node].resource_type == "unit_test" for node in ids)
        chosen = [node for node in ids if self.graph.nodes[node].resource_type in _TYPES[command]]
        self.plans, compile_times = plan_nodes(prepared, chosen)
        durations = recorded_durations(prepared.target_path / "run_results.json")
        threads = thread_count(prepared, options.threads, len(self.plans))
        self.node_run = NodeRun(
            prepared,
            Nodes(self.plans, compile_times, durations),
            Terms(self.invocation_id, threads, options.fail_fast, self._batch, options.begun),
            events,
        )

    def run(self, driver: Driver | None, starting: Starting | None) -> RunResults:
        target = self.prepared.target_path
        with Journal(target / "journal.jsonl") as journal:
            self.events.listen(journal)
            self.events.emit(
                "invocation_started",
                invocation_id=self.invocation_id,
                command=self.command,
                args=dict(self.options.args),
                nodes=list(self.plans),
            )
            self._tell_what_does_not_run()
            try:
                write_texts(self.prepared, self.plans, ("compiled", "run"))
                self._run_nodes(driver, starting)
            except ProblemsError as error:
                # Nothing has run: the results of the run before stay what they are.
                self.events.emit("invocation_failed", "error", problems=[str(problem) for problem in error.problems])
                raise
            except BaseException:
                self.node_run.record_open()
                self._finish()
                raise
            else:
                return self._finish()
            finally:
                self.events.forget(journal)

    def _tell_what_does_not_run(self) -> None:
        if self.command != "run" and self.unit_tests:
            self.events.emit(
                "message", message=f"{self.unit_tests} unit tests are declared and not run: they are to come"
            )

    def _run_nodes(self, driver: Driver | None, starting: Starting | None) -> None:
        if not self.plans:
            return
        with driving(self.prepared, self.events, driver, starting) as running:
            self.events.emit("running", nodes=len(self.plans), threads=self.node_run.terms.threads)
            self.options.observe(running)
            self.node_run.run(running, Catalog())
            self._audit(running)

    def _audit(self, driver: Driver) -> None:
        table = audit_table(self.prepared.files.profile)
        if table is not None:
            audit(driver, self.prepared, table, self.invocation_id, self.node_run.results, self.events)

    def _batch(self, unique_id: str) -> Batch | None:
        if self.options.batch_id is None:
            return None
        return Batch(".".join(unique_id.split(".")[1:]), self.options.batch_id)

    def _finish(self) -> RunResults:
        outcome = RunResults(
            self.invocation_id, self.command, self.started_at, _now(), self.options.args, tuple(self.node_run.results)
        )
        write_run_results(self.prepared.target_path / "run_results.json", outcome, version())
        write_manifest(self.prepared, self.invocation_id, self.plans)
        self._summarise()
        self.events.emit("invocation_finished", counts=outcome.counts(), ok=outcome.ok)
        return outcome

    def _summarise(self) -> None:
        formats = {node: str(self.graph.nodes[node].config.get("format")) for node in self.plans}
        merges = summary(self.node_run.results, formats)
        if merges:
            shown, hidden = merges[:ROWS], merges[ROWS:]
            self.events.emit(
                "merges_summarised",
                merges=[row.as_json() for row in shown],
                hidden=len(hidden),
                hidden_hints=sum(bool(row.hints) for row in hidden),
            )


def _now() -> datetime:
    return datetime.now(timezone.utc)
