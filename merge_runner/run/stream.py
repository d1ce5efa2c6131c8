"""Streams: each micro-batch runs the models that read it and all that follow in the DAG, in parallel.

Of a batch all models are tried before it fails. Its number is committed with every MERGE, so that a batch that comes
again after a failure or a crash changes no table twice (engine/batches.py); a checkpoint that does not fit is refused
(run/checkpoints.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from merge_runner.engine.batches import Batch, recorded_batch
from merge_runner.engine.checkpoint import checkpoint_state, write_note
from merge_runner.engine.driver import Driver
from merge_runner.engine.failures import EngineError
from merge_runner.engine.session import Starting
from merge_runner.engine.streaming import RunningStream, read_stream
from merge_runner.engine.tables import Catalog
from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.plan.prepare import Prepared
from merge_runner.plan.steps import CreateTarget, NodePlan
from merge_runner.plan.streams import StreamInput, stream_inputs
from merge_runner.run.artifacts import plan_nodes
from merge_runner.run.checkpoints import Target, judge_checkpoint, note
from merge_runner.run.driving import driving
from merge_runner.run.events import Events
from merge_runner.run.invocation import Invocation
from merge_runner.run.node_run import NodeRun, Nodes, Terms, thread_count
from merge_runner.run.results import FAILED, Result, RunResults
from merge_runner.run.scheduler import EndedAtOnceError
from merge_runner.run.stream_totals import StreamTotals

_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class StreamOptions:
    """How to run. `threads` None: the profile's. `available_now`: until all that is there now has been read.

    `args` are the invocation's own words. `observe` is given the driver once it runs.
    """

    threads: int | None = None
    available_now: bool = False
    args: Mapping[str, Any] = field(default_factory=dict)
    observe: Callable[[Driver], None] = lambda _: None


def stream(
    prepared: Prepared,
    ids: Sequence[str],
    options: StreamOptions,
    events: Events,
    driver: Driver | None = None,
    starting: Starting | None = None,
) -> RunResults:
    """Reads the streams that feed models among `ids`, until they end, one fails, or it is interrupted.

    The result of a model is that of its last batch, with `totals` over all. `driver` and `starting` are as in `build`.
    Raises ProblemsError (no batch has run then) and KeyboardInterrupt (run_results.json holds what was done).
    """
    return _Streaming(prepared, ids, options, events).run(driver, starting)


class _BatchFailedError(Exception):
    """A batch has failed: Spark does not count it as done, and it comes again with the next start."""


class _Streaming:
    def __init__(self, prepared: Prepared, ids: Sequence[str], options: StreamOptions, events: Events) -> None:
        _check(prepared)
        self.prepared = prepared
        self.options = options
        self.events = events
        self.streams = stream_inputs(prepared, ids)
        if not self.streams:
            raise ProblemsError(
                [
                    Problem(
                        "no-stream",
                        "no stream feeds the selected models",
                        hint="a stream is a table of a source with `stream:` in its YAML",
                    )
                ]
            )
        fed = dict.fromkeys(node for each in self.streams for node in each.fed)
        self.plans, self.compile_times = plan_nodes(prepared, fed)
        self.invocation = Invocation(prepared, "stream", options.args, events)
        self.totals = StreamTotals(self.plans)
        self.catalog = Catalog()
        self.ending = threading.Event()
        self.failed = False

    def run(self, driver: Driver | None, starting: Starting | None) -> RunResults:
        def work() -> None:
            with driving(self.prepared, self.events, driver, starting) as running:
                self.options.observe(running)
                self._run(running)

        return self.invocation.run(self.plans, work, self.totals.results)

    def _run(self, driver: Driver) -> None:
        problems = Problems()
        readers = [_Reader(self, stream, driver, turn) for stream, turn in _turns(self.streams)]
        for reader in readers:
            with problems.collecting():
                reader.check()
        problems.check()
        with ExitStack() as sessions:
            try:
                for reader in readers:
                    reader.start(sessions)
                self._wait(readers)
            except EndedAtOnceError:
                raise  # to stop a stream is to wait for its batch
            except BaseException:
                for reader in readers:
                    reader.stop()
                raise
        for reader in readers:
            reader.tell_end()

    def _wait(self, readers: Sequence[_Reader]) -> None:
        interrupt: KeyboardInterrupt | None = None
        while any(reader.goes_on() for reader in readers):
            try:
                for reader in readers:
                    reader.tell_progress()
                if self.failed and not self.options.available_now:
                    self.ending.set()
                if self.ending.is_set():
                    for reader in readers:
                        reader.stop_between_batches()
                time.sleep(_POLL_SECONDS)
            except KeyboardInterrupt as error:
                if interrupt is not None:
                    raise EndedAtOnceError from None
                interrupt = error
                self.ending.set()
                self.events.emit(
                    "message",
                    "warn",
                    message="stopping after what runs now (Ctrl-C again ends at once: nothing is lost)",
                )
        if interrupt is not None:
            raise interrupt


def _check(prepared: Prepared) -> None:
    if prepared.files.profile.remote is not None:
        hint = "give the output a `master`: the batches run in the process that starts the stream"
        raise ProblemsError([Problem("stream-remote", "streams do not run over Spark Connect", hint=hint)])
    if prepared.invocation.full_refresh:
        message = "a stream does not rebuild its targets: what it has read before would be missing in them"
        hint = "drop them, and begin anew with another `checkpoint` and a higher `generation`"
        raise ProblemsError([Problem("stream-full-refresh", message, hint=hint)])


def _turns(streams: Sequence[StreamInput]) -> Iterator[tuple[StreamInput, threading.Lock]]:
    """Each stream with the lock under which its batches run: those that feed one model take turns."""
    groups: list[tuple[set[str], threading.Lock]] = []
    for each in streams:
        fed = set(each.fed)
        meeting = [group for group in groups if group[0] & fed]
        joined = (set().union(fed, *(group[0] for group in meeting)), threading.Lock())
        groups = [group for group in groups if group not in meeting] + [joined]
    for each in streams:
        yield each, next(lock for nodes, lock in groups if nodes & set(each.fed))


class _Reader:
    """Reads one stream, and runs its batches."""

    def __init__(self, whole: _Streaming, stream: StreamInput, driver: Driver, turn: threading.Lock) -> None:
        self.whole = whole
        self.stream = stream
        self.driver = driver
        self.turn = turn
        self.nodes = whole.prepared.graph.nodes
        self.plans: dict[str, NodePlan] = {node: whole.plans[node] for node in stream.fed}
        self.durations: dict[str, float] = {}
        self.running: RunningStream | None = None
        self.told = -1
        self.working = threading.Event()

    def check(self) -> None:
        """Raises ProblemsError where the checkpoint and what the targets have recorded do not fit."""
        stream, known = self.stream, self.nodes.keys()
        with self.driver.session() as session:
            for key, value in self.driver.session_confs.items():
                session.conf.set(key, value)
            try:
                state = checkpoint_state(session, stream.checkpoint)
                targets = dict(self._targets(session))
                place = self.nodes[stream.unique_id].place
                judged = judge_checkpoint(stream, state, targets, known, place)
                if judged.problems:
                    raise ProblemsError(judged.problems)
                for warning in judged.warnings:
                    self.whole.events.emit("message", "warn", message=warning)
                write_note(session, stream.checkpoint, note(stream, state, known))
            except EngineError as error:
                raise ProblemsError(
                    [Problem("checkpoint", f"stream {stream.name}: {error.message}", hint=error.hint)]
                ) from error
        self.told = state.planned

    def _targets(self, session: Any) -> Iterator[tuple[str, Target]]:
        for unique_id, plan in self.plans.items():
            step = next((step for step in plan.steps if isinstance(step, CreateTarget)), None)
            if step is None:
                continue  # a table that is replaced as a whole has no batches
            recorded = None
            if self.whole.catalog.adopt(session, step.layout):
                app = self._batch(unique_id, 0).app
                recorded = recorded_batch(session, step.layout.relation, step.layout.format, app)
            # An Iceberg MERGE without an effect commits nothing that could carry the batch.
            yield unique_id, Target(step.layout.relation.name, recorded, step.layout.format == "delta")

    def start(self, sessions: ExitStack) -> None:
        """Starts to read. Raises ProblemsError where Spark cannot."""
        session = sessions.enter_context(self.driver.session())
        for key, value in self.driver.session_confs.items():
            session.conf.set(key, value)
        try:
            if self.stream.attach is not None:
                self.whole.catalog.attach(session, self.stream.attach)
            self.running = read_stream(session, self.stream, self.whole.options.available_now, self._work)
        except EngineError as error:
            place = self.nodes[self.stream.unique_id].place
            problem = Problem("stream", f"stream {self.stream.name}: {error.message} [{error.code}]", place, error.hint)
            raise ProblemsError([problem]) from error

    def goes_on(self) -> bool:
        """Whether there may be another batch."""
        return self.running is not None and self.running.active

    def stop_between_batches(self) -> None:
        """Ends the reading where no batch is being worked on."""
        if not self.working.is_set():
            self.stop()

    def stop(self) -> None:
        """Ends the reading."""
        if self.running is not None:
            self.running.stop()

    def tell_progress(self) -> None:
        """Tells what Spark has measured of the batches that have ended since."""
        for each in self.running.progress(self.told) if self.running is not None else ():
            self.told = max(self.told, int(each["batchId"]))
            self.whole.events.emit("stream_progress", "debug", stream=self.stream.name, progress=each)

    def tell_end(self) -> None:
        """Tells how it went; raises what ended the reading where that was no batch."""
        self.tell_progress()
        self.whole.events.emit(
            "stream_finished", stream=self.stream.name, **self.whole.totals.of_stream(self.stream.name)
        )
        error = self.running.error() if self.running is not None else None
        if error is not None and not self.whole.failed and not self.whole.ending.is_set():
            problem = Problem("stream", f"stream {self.stream.name}: {error.message} [{error.code}]", hint=error.hint)
            raise ProblemsError([problem])

    def _work(self, batch_id: int, rows: int) -> None:
        """Runs the models of one batch. Raises _BatchFailedError with every error named."""
        self.working.set()
        try:
            if self.whole.ending.is_set():
                raise _BatchFailedError("the stream is ending")
            with self.turn:
                self._run_batch(batch_id, rows)
        finally:
            self.working.clear()

    def _run_batch(self, batch_id: int, rows: int) -> None:
        name, events = self.stream.name, self.whole.events
        started, started_at = time.monotonic(), datetime.now(timezone.utc)
        events.emit("batch_started", stream=name, batch_id=batch_id, rows=rows, nodes=len(self.plans) if rows else 0)
        results: list[Result] = []
        if rows:  # a MERGE of no rows would take all rows of its target for missing in the source
            node_run = NodeRun(
                self.whole.prepared,
                Nodes(self.plans, {}, self.durations),
                Terms(
                    f"{self.whole.invocation.id}/{name}/{batch_id}",
                    thread_count(self.whole.prepared, self.whole.options.threads, len(self.plans)),
                    batch=lambda unique_id: self._batch(unique_id, batch_id),
                ),
                events,
            )
            try:
                node_run.run(self.driver, self.whole.catalog)
            finally:
                results = [_of_batch(result, name, batch_id, started_at) for result in node_run.results]
                self.whole.totals.add(results)
        seconds = time.monotonic() - started
        self.whole.totals.add_batch(name, rows, seconds)
        failed = [result for result in results if result.status in FAILED]
        self.whole.failed = self.whole.failed or bool(failed)
        events.emit(
            "batch_finished",
            "error" if failed else "info",
            stream=name,
            batch_id=batch_id,
            rows=rows,
            seconds=round(seconds, 3),
            ok=not failed,
            targets=[_told(result) for result in results],
        )
        for result in results:
            self._learn(result)
        if failed:
            raise _BatchFailedError("; ".join(f"{result.unique_id}: {result.message}" for result in failed))

    def _learn(self, result: Result) -> None:
        """A target that is there need not be looked for again, and the longest merges begin first."""
        self.durations[result.unique_id] = result.execution_time
        if result.status in ("success", "no-op"):
            plan = self.plans[result.unique_id]
            steps = tuple(step for step in plan.steps if not isinstance(step, CreateTarget))
            self.plans[result.unique_id] = replace(plan, steps=steps)

    def _batch(self, unique_id: str, batch_id: int) -> Batch:
        return Batch(f"{self.stream.application}.{self.nodes[unique_id].name}", batch_id)


def _of_batch(result: Result, stream: str, batch_id: int, started_at: datetime) -> Result:
    """The result with its batch, and how long after the batch's begin it was there (ms)."""
    own: dict[str, Any] = {"stream": stream, "batch_id": batch_id}
    if result.timing and result.status not in FAILED:
        own["lag_ms"] = round(1000 * (result.timing[-1].completed_at - started_at).total_seconds())
    return replace(result, adapter_response={**result.adapter_response, **own})


def _told(result: Result) -> dict[str, Any]:
    response = result.adapter_response
    keys = ("rows_inserted", "rows_updated", "rows_deleted", "table_version", "lag_ms")
    told = {key: response[key] for key in keys if response.get(key) is not None}
    return {"node": result.unique_id, "status": result.status, "seconds": round(result.execution_time, 3), **told}
