"""Runs planned nodes on a driver, in DAG order, and keeps their results: a whole build, or one micro-batch."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import Literal

from merge_runner.engine.context import ScanBudget
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.spark.errors import EngineError, from_engine
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.graph.graph import UnitTestNode, run_config
from merge_runner.graph.label import label, node_names
from merge_runner.graph.order import contracted, parents_with_tests, priorities, topological, unit_tests_first
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import ShareInputs
from merge_runner.run.batches.batch_jobs import BatchJob
from merge_runner.run.batches.joined_result import batch_as_json
from merge_runner.run.batches.run_batches import RunBatches
from merge_runner.run.execution.stall_monitor import watching
from merge_runner.run.node.lost_driver import NotBegunError, lost_driver
from merge_runner.run.node.node_runner import run_batch, run_node
from merge_runner.run.node.outcome import left_out_result
from merge_runner.run.node.run_context import Nodes, RunContext
from merge_runner.run.results.event_types import Message, NodeBatchFinished, NodeFinished, NodeStarted, Running
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import FAILED, Result, Timing
from merge_runner.run.reuse.decision import ReuseDecision
from merge_runner.run.reuse.reuse import Reuse
from merge_runner.run.scheduling.scheduler import EndedAtOnceError, Job, run_jobs
from merge_runner.run.scheduling.write_conflicts import write_keys
from merge_runner.run.settings import RunSettings


def thread_count(
    prepared: Prepared, threads: int | Literal["auto"] | None, models: int, cores: int | None = None
) -> int:
    """Return `threads`, None: as the profile says; `auto` is min(models, max(2, cores // 2)).

    `cores` None: those of this machine.
    """
    if threads is None:
        threads = prepared.files.profile.threads
    if threads == "auto":
        threads = min(models, max(2, (cores or os.cpu_count() or 1) // 2))
    return max(1, int(threads))


class NodeRun:
    """One run of nodes. `results` has them in the order in which they came.

    `id` distinguishes their commits and job groups from those of every other run.
    """

    def __init__(
        self,
        prepared: Prepared,
        nodes: Nodes,
        settings: RunSettings,
        id: str,
        events: Events,
        reuse: Reuse | None = None,
    ) -> None:
        self.prepared = prepared
        self.graph = prepared.graph
        self.plans = nodes.plans
        self.nodes = nodes
        self.settings = settings
        self.id = id
        self.reuse = reuse
        self.threads = thread_count(prepared, settings.threads, len(nodes.plans))
        self.events = events
        self.results: list[Result] = []
        self.abandoned = False
        """Whether the run was ended while nodes were running, without waiting for them."""
        self.waits_for: dict[str, set[str]] = {}
        """The nodes that each has waited for, once they run."""
        self._finished: set[str] = set()
        self._lost: dict[str, EngineError] = {}
        """Nodes that could not begin, as the driver was lost before."""
        self._below_lost: dict[str, str] = {}
        """Nodes that wait for one of these."""
        self._let_children_run: dict[str, bool] = {}
        """Whether the children of a node that has run may run: another driver begins with what is known."""
        self._batches = RunBatches(prepared, settings, id)
        self._shared = SharedInputs(())
        self._scan_budget = ScanBudget(settings.max_scanned) if settings.max_scanned is not None else None
        self._keeping = threading.Lock()
        self._running: dict[str, datetime] = {}
        """The nodes and batches that run, by the ids of their jobs, with their starts."""
        self._begun: set[str] = set()
        """The models of which a batch has begun."""
        self._stopping = threading.Event()
        self._cancel: Callable[[], None] = lambda: None

    def run(self, driver: Driver, catalog: Catalog) -> None:
        """Runs all nodes. Raises KeyboardInterrupt when the run was stopped, EndedAtOnceError while some still run."""
        self.run_open(driver, catalog)
        self.give_up()

    def run_open(self, driver: Driver, catalog: Catalog) -> int:
        """Runs the nodes that have no result yet; gives how many are left, as the driver was lost before they began.

        Another driver may run these. Raises what `run` does.
        """
        self._lost, self._below_lost = {}, {}
        steps = (step for plan in self.plans.values() for form in plan.forms for step in form.steps)
        self._shared = SharedInputs(step.readers for step in steps if isinstance(step, ShareInputs))
        for unique_id in self._finished:
            self._shared.done(unique_id)
        run = self._context(driver, catalog)
        self._cancel = partial(self._cancel_running, run)
        unfinished = [node for node in self.plans if node not in self._finished]
        try:
            self._batches.plan_batches(unfinished, driver, catalog)
        except Exception as failure:
            if not from_engine(failure):
                raise
            self._lost = dict.fromkeys(unfinished, lost_driver(driver, failure, seconds=0))
            return len(unfinished)
        try:
            with watching(driver, self.events):
                run_jobs(self._job(run), self.threads, self.settings.fail_fast, cancel=self.stop)
        except EndedAtOnceError:
            self.abandoned = True
            raise
        return 0 if self._stopping.is_set() else len(self._lost) + len(self._below_lost)

    def leave_out(self) -> bool:
        """Give every node its result without a driver, where none needs to run; return whether that is so."""
        if self.reuse is None:
            return False
        decisions: dict[str, ReuseDecision] = {}
        for unique_id in self.plans:
            decision = self.reuse.decide(self.plans[unique_id])
            if not isinstance(decision, ReuseDecision):
                return False
            decisions[unique_id] = decision
        self.events.emit(Running(nodes=len(decisions), threads=0))
        for unique_id in topological(self.graph, self.plans):
            self.events.emit(
                NodeStarted(**node_names(self.graph.nodes, unique_id), group=f"{self.id}/{unique_id}", expected=None)
            )
            node, plan = self.graph.nodes[unique_id], self.plans[unique_id]
            self._keep(left_out_result(node, self.nodes, plan, decisions[unique_id], _now()))
        return True

    def _context(self, driver: Driver, catalog: Catalog) -> RunContext:
        return RunContext(
            self.prepared,
            self.nodes,
            self.settings,
            self.id,
            self.events,
            driver,
            catalog,
            self._shared,
            write_keys(self.plans, self.graph.nodes),
            self._stopping,
            self._scan_budget,
            self.reuse,
        )

    def _job(self, run: RunContext) -> Job:
        nodes = self.graph.nodes
        unit_tests = [node for node in self.plans if isinstance(nodes[node], UnitTestNode)]
        dag = unit_tests_first(contracted(self.graph, self.plans), unit_tests)
        own = {node: run_config(nodes[node]).priority for node in dag}
        self.waits_for = parents_with_tests(nodes, dag)
        return Job(
            parents=self._batches.with_jobs(self.waits_for),
            work=partial(self._work, run),
            skip=self._skip,
            priority=self._batches.with_priorities(priorities(dag, self.nodes.durations, own)),
            writes=self._batches.with_writes(run.writes),
        )

    def _cancel_running(self, run: RunContext) -> None:
        for unique_id in list(self._running):
            run.driver.cancel(run.group(unique_id))
            run.driver.cancel(run.diagnosis_group(unique_id))

    def give_up(self) -> None:
        """What is left has failed as its driver was lost, or is skipped below that."""
        lost, below = self._lost, self._below_lost
        self._lost, self._below_lost = {}, {}
        for unique_id, error in lost.items():
            batches = self._batches.result(unique_id) if self._batches.has_results(unique_id) else None
            self._keep(batches or Result(unique_id, "error", message=str(error)))
        for unique_id, cause in below.items():
            self._skip(unique_id, cause)

    def skip_all(self, reason: str) -> None:
        """Skip the nodes that have no result yet."""
        for unique_id in self.plans:
            self._keep(Result(unique_id, "skipped", message=f"skipped because {reason}"))

    def stop(self) -> None:
        """Cancels what runs. May be called from another thread."""
        self._stopping.set()
        self.events.emit(Message("stopping: what runs is cancelled (Ctrl-C ends immediately)", level="warn"))
        self._cancel()

    def end(self) -> list[Result]:
        """Return the results; where the run ends before its nodes, those have what is known of them."""
        running = dict(self._running)
        for unique_id in self.plans:
            if unique_id in self._finished:  # asked after `running`: what ends meanwhile is in one of them
                continue
            if unique_id in running:
                timing = Timing("execute", running[unique_id], _now())
                message = "the run was ended while it was running: whether its statement has committed is not known"
                self._keep(Result(unique_id, "error", timing=(timing,), message=message))
            elif unique_id in self._begun:
                self._end_batches(unique_id, running)
            else:
                self._skip(unique_id, None)
        return self.results

    def _end_batches(self, unique_id: str, running: Mapping[str, datetime]) -> None:
        """Give a model its result where the run ends before its batches."""
        message = "the run was ended while it was running: whether its statement has committed is not known"
        for id, started in running.items():
            job = self._batches.job(id)
            if job is not None and job.unique_id == unique_id and id not in self._batches.results:
                timing = Timing("execute", started, _now())
                self._batches.results[id] = Result(unique_id, "error", timing=(timing,), message=message)
        self._keep(self._batches.result(unique_id))

    def _work(self, run: RunContext, unique_id: str) -> bool:
        """Run a node, unless it ran on an earlier driver; return whether its children may run."""
        if unique_id in self._let_children_run:
            return self._let_children_run[unique_id]
        if (job := self._batches.job(unique_id)) is not None:
            self._work_batch(run, job)
            return True  # the model knows what became of its batches
        if unique_id in self._lost:
            return False
        self._running[unique_id] = _now()
        try:
            if unique_id in self._batches:
                self._start_batches(run, unique_id)
                result = self._batches.result(unique_id)
                late = self._batches.warn_of_late_rows(unique_id, run.driver, run.catalog)
                result = replace(result, warnings=(*result.warnings, *late))
            else:
                result = run_node(unique_id, run)
            self._keep(result)
        except NotBegunError as error:
            self._lost[unique_id] = error.lost
            return False
        except BaseException as error:
            # A bug of merge-runner: the node has begun, and must not be reported as skipped.
            self._keep(Result(unique_id, "error", message=f"internal error: {type(error).__name__}: {error}"))
            raise
        finally:
            del self._running[unique_id]
        self._let_children_run[unique_id] = self._passes(result)
        return self._let_children_run[unique_id]

    def _work_batch(self, run: RunContext, job: BatchJob) -> None:
        """Run a batch of a model, unless it ran on an earlier driver."""
        if job.id in self._batches.results or job.unique_id in self._lost:
            return
        if (reason := self._batches.reason_to_skip(job)) is not None:
            self._keep_batch(job, Result(job.unique_id, "skipped", message=reason))
            return
        self._start_batches(run, job.unique_id)
        self._running[job.id] = _now()
        try:
            self._keep_batch(job, run_batch(job, run))
        except NotBegunError as error:
            self._lost[job.unique_id] = error.lost
        except BaseException as error:
            message = f"internal error: {type(error).__name__}: {error}"
            self._keep_batch(job, Result(job.unique_id, "error", message=message))
            raise
        finally:
            del self._running[job.id]

    def _start_batches(self, run: RunContext, unique_id: str) -> None:
        """Say that a model with batches starts, once."""
        with self._keeping:
            is_first = unique_id not in self._begun
            self._begun.add(unique_id)
        if is_first:
            names, expected = node_names(self.graph.nodes, unique_id), self.nodes.durations.get(unique_id)
            self.events.emit(NodeStarted(**names, group=run.group(unique_id), expected=expected))

    def _keep_batch(self, job: BatchJob, result: Result) -> None:
        result = self._concealed(result)
        self._batches.results[job.id] = result
        self.events.emit(
            NodeBatchFinished(
                **node_names(self.graph.nodes, job.unique_id),
                batch=batch_as_json(job, result),
                level="error" if result.status in FAILED else "info",
            )
        )

    def _passes(self, result: Result) -> bool:
        """Whether the children of a node with this result may run."""
        if result.status not in FAILED:
            return True
        if self.settings.independent and not self.settings.fail_fast:
            return True
        if self.settings.runs_partial and result.status == "partial success":
            return True
        return run_config(self.graph.nodes[result.unique_id]).on_error == "continue"

    def _skip(self, unique_id: str, cause: str | None) -> None:
        if self._batches.job(unique_id) is not None:
            return  # its model is skipped as well
        if cause is not None and (job := self._batches.job(cause)) is not None:
            cause = None if unique_id == job.unique_id else job.unique_id  # a bug of merge-runner has ended the batch
        if cause in self._lost:
            self._below_lost[unique_id] = cause
            return
        if cause is None and self._batches.has_results(unique_id):
            self._keep(self._batches.result(unique_id))
            return
        reason = f"because {label(self.graph.nodes, cause)} failed" if cause else "because the run was stopped"
        self._keep(Result(unique_id, "skipped", message=f"skipped {reason}", cause=cause))

    def _concealed(self, result: Result) -> Result:
        # What an engine says may repeat the confs, addresses and statements that it was given.
        conceal = self.prepared.conceal
        return replace(
            result,
            message=conceal(result.message) if result.message else result.message,
            warnings=tuple(conceal(warning) for warning in result.warnings),
            compiled_code=conceal(result.compiled_code) if result.compiled_code else result.compiled_code,
            response=result.response.with_texts(self.prepared.concealed),
        )

    def _keep(self, result: Result) -> None:
        result = self._concealed(result)
        with self._keeping:
            if result.unique_id in self._finished:
                return  # the run has ended without it
            self._finished.add(result.unique_id)
            self.results.append(result)
        if not self.abandoned:  # else it would wait for what runs
            self._shared.done(result.unique_id)
        self.events.emit(
            NodeFinished(
                **node_names(self.graph.nodes, result.unique_id),
                result=result.as_json(),
                warnings=list(result.warnings),
                level="error" if result.status in FAILED else "info",
            )
        )


def _now() -> datetime:
    return datetime.now(timezone.utc)
