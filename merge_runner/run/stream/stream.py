"""Streams: each micro-batch runs the models that read it and all that follow in the DAG, in parallel.

Of a batch all models are tried before it fails. Its number is committed with every MERGE, so that a batch that comes
again after a failure or a crash changes no table twice (engine/merge/idempotency.py); a checkpoint that
does not fit is refused (run/stream/checkpoint_check.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.merge.idempotency import recorded_batch
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.stream.checkpoint import checkpoint_state, write_note
from merge_runner.engine.stream.reader import RunningStream, read_stream
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.streams import StreamInput, stream_inputs
from merge_runner.plan.steps.table import CreateTarget
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.node_plans import plan_nodes
from merge_runner.run.results.event_types import Message, StreamFinished, StreamProgress
from merge_runner.run.results.events import Events
from merge_runner.run.results.invocation import Invocation
from merge_runner.run.results.results import RunResults
from merge_runner.run.results.table_versions import read_versions
from merge_runner.run.scheduling.scheduler import EndedAtOnceError
from merge_runner.run.settings import RunSettings
from merge_runner.run.stream.checkpoint_check import Target, judge_checkpoint, note
from merge_runner.run.stream.stream_batches import Outcome, StreamBatches
from merge_runner.run.stream.stream_totals import StreamTotals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POLL_SECONDS = 0.1


def stream(
    prepared: Prepared,
    ids: Sequence[str],
    settings: RunSettings,
    events: Events,
    source: DriverSource,
) -> RunResults:
    """Reads the streams that feed models among `ids`, until they end, one fails, or it is interrupted.

    The result of a model is that of its last batch, with `totals` over all. Raises ProblemsError where a stream cannot
    be read, or can no longer be, and KeyboardInterrupt; run_results.json holds what was done.
    """
    return _StreamRun(prepared, ids, settings, events).run(source)


class _StreamRun:
    def __init__(self, prepared: Prepared, ids: Sequence[str], settings: RunSettings, events: Events) -> None:
        _check(prepared)
        self.prepared = prepared
        self.settings = settings
        self.events = events
        self.streams = stream_inputs(prepared, ids)
        if not self.streams:
            hint = "a stream is a table of a source with `stream:` in its YAML"
            raise ProblemsError([Problem("no-stream", "no stream feeds the selected models", hint=hint)])
        self.invocation = Invocation(prepared, "stream", settings.args, events)
        fed = dict.fromkeys(node for stream in self.streams for node in stream.fed)
        self.plans = plan_nodes(prepared, fed, self.invocation.id).plans
        self.outcome = Outcome(StreamTotals(self.plans))
        self.broken: list[Problem] = []
        """What ended the reading where no batch did."""

    def run(self, source: DriverSource) -> RunResults:
        with (
            self.invocation.record_run(self.plans, self.outcome.totals.results),
            driving(self.prepared, self.events, source) as running,
        ):
            self.events.observe(running)
            self._run(running)
            read_versions(running, self.prepared, self.outcome.totals.results(), self.events)
        if self.broken:
            raise ProblemsError(self.broken)
        return self.invocation.results

    def _run(self, driver: Driver) -> None:
        problems = Problems()
        readers = list(self._readers(driver))
        for reader in readers:
            with problems.collecting():
                reader.check()
        problems.check()
        with ExitStack() as sessions:
            try:
                for reader in readers:
                    reader.start(sessions, self.settings.available_now)
                self._wait(readers)
            except EndedAtOnceError:
                raise  # to stop a stream is to wait for its batch
            except BaseException:
                for reader in readers:
                    reader.stop()
                raise
        self.broken += [problem for reader in readers if (problem := reader.end()) is not None]

    def _readers(self, driver: Driver) -> Iterator[_Reader]:
        catalog = Catalog(driver.table_format)
        for stream, turn in _turns(self.streams):
            yield _Reader(
                StreamBatches(
                    stream,
                    self.prepared,
                    driver,
                    catalog,
                    {node: self.plans[node] for node in stream.fed},
                    self.invocation.id,
                    replace(self.settings, application=stream.application),
                    self.events,
                    self.outcome,
                    turn,
                )
            )

    def _wait(self, readers: Sequence[_Reader]) -> None:
        interrupt: KeyboardInterrupt | None = None
        ending = self.outcome.ending
        while any(reader.goes_on() for reader in readers):
            try:
                for reader in readers:
                    reader.report_progress()
                if self.outcome.failed.is_set() and not self.settings.available_now:
                    ending.set()
                if ending.is_set():
                    for reader in readers:
                        reader.stop_between_batches()
                time.sleep(_POLL_SECONDS)
            except KeyboardInterrupt as error:
                if interrupt is not None:
                    raise EndedAtOnceError from None
                interrupt = error
                ending.set()
                words = "stopping after what runs now (Ctrl-C again ends immediately: nothing is lost)"
                self.events.emit(Message(words, level="warn"))
        if interrupt is not None:
            raise interrupt


def _check(prepared: Prepared) -> None:
    if prepared.files.profile.remote is not None:
        hint = "give the output a `master`: the batches run in the process that starts the stream"
        raise ProblemsError([Problem("stream-remote", "streams do not run over Spark Connect", hint=hint)])
    if prepared.invocation.full_refresh:
        message = "a stream does not rebuild its targets: what it has read before would be missing in them"
        hint = "drop them, and start over with another `checkpoint` and a higher `generation`"
        raise ProblemsError([Problem("stream-full-refresh", message, hint=hint)])


def _turns(streams: Sequence[StreamInput]) -> Iterator[tuple[StreamInput, threading.Lock]]:
    """Each stream with the lock under which its batches run: those that feed one model take turns."""
    groups: list[tuple[set[str], threading.Lock]] = []
    for stream in streams:
        fed = set(stream.fed)
        meeting = [group for group in groups if group[0] & fed]
        merged = (fed.union(*(group[0] for group in meeting)), threading.Lock())
        groups = [group for group in groups if group not in meeting] + [merged]
    for stream in streams:
        yield stream, next(lock for nodes, lock in groups if nodes & set(stream.fed))


class _Reader:
    """Reads one stream."""

    def __init__(self, batches: StreamBatches) -> None:
        self.batches = batches
        self.stream = batches.stream
        self.driver = batches.driver
        self.nodes = batches.prepared.graph.nodes
        self.place = self.nodes[self.stream.unique_id].place
        self.running: RunningStream | None = None
        self.last_reported = -1

    def check(self) -> None:
        """Raises ProblemsError where the checkpoint and what the targets have recorded do not fit."""
        stream, node_ids = self.stream, self.nodes.keys()
        with ExitStack() as sessions:
            session = sessions.enter_context(self.driver.session())
            try:
                state = checkpoint_state(session, stream.checkpoint)
                verdict = judge_checkpoint(stream, state, dict(self._targets(session)), node_ids, self.place)
                if verdict.problems:
                    raise ProblemsError(verdict.problems)
                for warning in verdict.warnings:
                    self.batches.events.emit(Message(warning, level="warn"))
                write_note(session, stream.checkpoint, note(stream, state, node_ids))
            except EngineError as error:
                raise ProblemsError([self._problem(error)]) from error
        self.last_reported = state.done

    def _targets(self, session: SparkSession) -> Iterator[tuple[str, Target]]:
        for unique_id, plan in self.batches.plans.items():
            step = next((step for step in plan.steps if isinstance(step, CreateTarget)), None)
            if step is None:
                continue  # a table that is replaced as a whole has no batches
            recorded = None
            if self.batches.catalog.adopt(session, step.layout):
                app = self.batches.settings.application_of(self.nodes[unique_id])
                table_format = self.driver.table_format(step.layout.format)
                recorded = recorded_batch(session, step.layout.relation, table_format, app)
            yield unique_id, Target(step.layout.relation.name, recorded)

    def start(self, sessions: ExitStack, available_now: bool) -> None:
        """Starts to read. Raises ProblemsError where Spark cannot."""
        session = sessions.enter_context(self.driver.session())
        try:
            if self.stream.attach is not None:
                self.batches.catalog.attach(session, self.stream.attach)
            self.running = read_stream(session, self.stream, available_now, self.batches.work)
        except EngineError as error:
            raise ProblemsError([self._problem(error)]) from error

    def goes_on(self) -> bool:
        """Whether there may be another batch."""
        return self.running is not None and self.running.active

    def stop_between_batches(self) -> None:
        """Ends the reading where no batch is being worked on."""
        if not self.batches.working.is_set():
            self.stop()

    def stop(self) -> None:
        """Ends the reading."""
        if self.running is not None:
            self.running.stop()

    def report_progress(self) -> None:
        """Emit what Spark has measured of the batches that have ended since."""
        for progress in self.running.progress(self.last_reported) if self.running is not None else ():
            self.last_reported = max(self.last_reported, int(progress["batchId"]))
            self.batches.events.emit(StreamProgress(stream=self.stream.name, progress=dict(progress)))

    def end(self) -> Problem | None:
        """Report how it went; return what ended the reading where that was no batch."""
        self.report_progress()
        outcome = self.batches.outcome
        self.batches.events.emit(StreamFinished(stream=self.stream.name, **outcome.totals.of_stream(self.stream.name)))
        error = self.running.error() if self.running is not None else None
        if error is None or outcome.failed.is_set() or outcome.ending.is_set():
            return None
        return self._problem(error)

    def _problem(self, error: EngineError) -> Problem:
        return Problem("stream", f"stream {self.stream.name}: {error.message} [{error.code}]", self.place, error.hint)
