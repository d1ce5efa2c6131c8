"""Runs selected nodes: plans all of them first, then Spark, then the ready queue; and writes the artifacts."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from typing import Any, Literal

from merge_runner.engine.branch_catalog import BranchCatalog
from merge_runner.engine.driver import Driver
from merge_runner.engine.session import Starting
from merge_runner.engine.shared_inputs import SharedInputs
from merge_runner.engine.tables import Catalog
from merge_runner.errors import ProblemsError
from merge_runner.graph.naming import audit_table
from merge_runner.graph.order import contracted, priorities
from merge_runner.plan.branching import check_isolated, is_view, on_branch
from merge_runner.plan.prepare import Prepared
from merge_runner.plan.steps import ShareInputs
from merge_runner.run.artifacts import plan_nodes, write_manifest, write_run_text, write_texts
from merge_runner.run.audit import audit
from merge_runner.run.durations import recorded_durations
from merge_runner.run.events import Events
from merge_runner.run.journal import Journal
from merge_runner.run.results import FAILED, Result, RunResults, Timing, write_run_results
from merge_runner.run.scheduler import EndedAtOnceError, Job, run_jobs
from merge_runner.run.summary import ROWS, summary
from merge_runner.run.waiting import parents_with_tests
from merge_runner.run.worker import Worker
from merge_runner.run.writers import write_keys
from merge_runner.template.redact import redact
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
    commits once for it. `branch`: what every Iceberg table is written on instead of main.
    `args` are the invocation's own words, kept in run_results.json.

    `begun` are nodes whose statement may have committed in an earlier invocation, with the ids of these invocations.
    `observe` is given the driver once it runs, to show what it does.
    """

    threads: int | None = None
    batch_id: int | None = None
    branch: str | None = None
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


def starting_driver(prepared: Prepared, events: Events) -> Starting:
    """The driver that the project's profile asks for; nothing has been started yet."""
    return Starting(
        prepared.files.profile,
        prepared.files.root,
        prepared.target_path / "logs" / "spark.log",
        prepared.invocation.env,
        notify=lambda message: events.emit("message", message=message),
    )


def thread_count(prepared: Prepared, options: Options, models: int) -> int:
    """`auto` is min(models, max(2, cores // 2))."""
    wanted = options.threads if options.threads is not None else prepared.files.profile.threads
    if wanted == "auto":
        wanted = min(models, max(2, (os.cpu_count() or 1) // 2))
    return max(1, int(wanted))


class _Build:
    def __init__(
        self, prepared: Prepared, ids: Sequence[str], command: Command, options: Options, events: Events
    ) -> None:
        self.prepared = prepared
        planned = prepared if options.branch is None else on_branch(prepared)
        self.graph = planned.graph
        self.command: Command = command
        self.options = options
        self.events = events
        self.invocation_id = str(uuid.uuid4())
        self.started_at = _now()
        self.results: list[Result] = []
        self.known: set[str] = set()
        self.abandoned = False
        self.keeping = threading.Lock()
        self.running: dict[str, datetime] = {}
        self.unit_tests = sum(self.graph.nodes[node].resource_type == "unit_test" for node in ids)
        chosen = [node for node in ids if self.graph.nodes[node].resource_type in _TYPES[command]]
        self.plans, self.compile_times = plan_nodes(planned, chosen)
        if options.branch is not None:
            check_isolated(self.plans, self.graph.nodes)
        on_main = options.branch is None
        self.views = [node for node in chosen if not on_main and is_view(prepared.graph.nodes[node])]
        steps = (step for plan in self.plans.values() for step in plan.steps)
        self.shared = SharedInputs(step.readers for step in steps if isinstance(step, ShareInputs))

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
                self._record_open()
                self._finish()
                raise
            else:
                return self._finish()
            finally:
                self.events.forget(journal)

    def _tell_what_does_not_run(self) -> None:
        if self.views:
            names = ", ".join(self.prepared.graph.nodes[node].name for node in self.views)
            self.events.emit(
                "message", message=f"views have no branches: {names} stand in place here, and are not defined"
            )
        if self.command != "run" and self.unit_tests:
            self.events.emit(
                "message", message=f"{self.unit_tests} unit tests are declared and not run: they are to come"
            )

    def _run_nodes(self, driver: Driver | None, starting: Starting | None) -> None:
        if not self.plans:
            return
        own = driver is None
        profile = self.prepared.files.profile
        if driver is None:
            started = time.monotonic()
            self.events.emit("spark_starting", master=profile.where)
            with starting or starting_driver(self.prepared, self.events) as coming:
                driver = coming.driver()
            self.events.emit("spark_started", seconds=round(time.monotonic() - started, 2))
        try:
            self._schedule(driver)
            self._audit(driver)
        except EndedAtOnceError:
            self.abandoned = True
            raise
        finally:
            if own and not self.abandoned:
                driver.stop()

    def _audit(self, driver: Driver) -> None:
        table = audit_table(self.prepared.files.profile)
        if table is not None:
            audit(driver, self.prepared, table, self.invocation_id, self.results, self.events)

    def _schedule(self, driver: Driver) -> None:
        stopping = threading.Event()
        files = self.prepared.files
        writes = write_keys(self.plans, self.graph.nodes)
        worker = Worker(
            driver,
            files.root / files.profile.warehouse if files.profile.warehouse is not None else None,
            Catalog() if self.options.branch is None else BranchCatalog(self.options.branch),
            self.shared,
            self.plans,
            self.graph.nodes,
            self.events,
            self.invocation_id,
            stopping,
            self.compile_times,
            partial(write_run_text, self.prepared),
            batch_id=self.options.batch_id,
            branch=self.options.branch,
            begun=self.options.begun,
            writes=writes,
            conceal=self._conceal,
        )
        dag = contracted(self.graph, self.plans)
        durations = recorded_durations(self.prepared.target_path / "run_results.json")
        own = {node: self.graph.nodes[node].config.get("priority") or 0 for node in dag}
        threads = thread_count(self.prepared, self.options, len(self.plans))
        self.events.emit("running", nodes=len(self.plans), threads=threads)
        self.options.observe(driver)

        def stop() -> None:
            stopping.set()
            self.events.emit("message", "warn", message="stopping: what runs is cancelled (Ctrl-C ends at once)")
            for unique_id in list(self.running):
                for group in worker.groups(unique_id):
                    driver.cancel(group)

        run_jobs(
            Job(
                parents=parents_with_tests(self.graph.nodes, dag),
                work=lambda unique_id: self._work(worker, unique_id),
                skip=self._skip,
                priority=priorities(dag, durations, own),
                writes=writes,
            ),
            threads,
            self.options.fail_fast,
            cancel=stop,
        )

    def _work(self, worker: Worker, unique_id: str) -> bool:
        self.running[unique_id] = _now()
        try:
            result = worker.run(unique_id)
            self._keep(result)
        except BaseException as error:
            # A mistake of our own: the node has begun, and must not be told to have been skipped.
            self._keep(Result(unique_id, "error", message=f"internal error: {type(error).__name__}: {error}"))
            raise
        finally:
            del self.running[unique_id]
        return result.status not in FAILED or self.graph.nodes[unique_id].config.get("on_error") == "continue"

    def _skip(self, unique_id: str, cause: str | None) -> None:
        reason = f"because {self.graph.nodes[cause].name} failed" if cause else "because the run was stopped"
        self._keep(Result(unique_id, "skipped", message=f"skipped {reason}", cause=cause))

    def _conceal(self, text: str) -> str:
        """What an engine says may repeat the confs and addresses that it was given."""
        return redact(text, self.prepared.files.profile.secrets)

    def _keep(self, result: Result) -> None:
        result = replace(
            result,
            message=self._conceal(result.message) if result.message else result.message,
            warnings=tuple(self._conceal(warning) for warning in result.warnings),
        )
        with self.keeping:
            if result.unique_id in self.known:
                return  # the run has ended without it
            self.known.add(result.unique_id)
            self.results.append(result)
        if not self.abandoned:  # else it would wait for what runs
            self.shared.done(result.unique_id)
        self.events.emit(
            "node_finished",
            "error" if result.status in FAILED else "info",
            node=result.unique_id,
            name=self.graph.nodes[result.unique_id].name,
            result=result.as_json(),
        )

    def _record_open(self) -> None:
        """The run is at an end before its nodes are: says of each what is known of it."""
        running = dict(self.running)
        for unique_id in self.plans:
            if unique_id in self.known:  # asked after `running`: what ends meanwhile is in one of them
                continue
            if unique_id in running:
                timing = Timing("execute", running[unique_id], _now())
                message = "the run was ended while it was running: whether its statement has committed is not known"
                self._keep(Result(unique_id, "error", timing=(timing,), message=message))
            else:
                self._skip(unique_id, None)

    def _finish(self) -> RunResults:
        outcome = RunResults(
            self.invocation_id, self.command, self.started_at, _now(), self.options.args, tuple(self.results)
        )
        write_run_results(self.prepared.target_path / "run_results.json", outcome, version())
        write_manifest(self.prepared, self.invocation_id, self.plans)
        self._summarise()
        self.events.emit("invocation_finished", counts=outcome.counts(), ok=outcome.ok)
        return outcome

    def _summarise(self) -> None:
        formats = {node: str(self.graph.nodes[node].config.get("format")) for node in self.plans}
        merges = summary(self.results, formats)
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
