"""Runs the batches of one stream: each is a run of the nodes that it feeds."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.response import StreamFigures
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.streams import StreamInput
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CreateTarget
from merge_runner.run.execution.dag_run import NodeRun, thread_count
from merge_runner.run.node.run_context import Nodes
from merge_runner.run.results.event_types import BatchFinished, BatchStarted
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import FAILED, SUCCEEDED, Result
from merge_runner.run.settings import RunSettings
from merge_runner.run.stream.stream_totals import StreamTotals


class BatchFailedError(Exception):
    """A batch has failed: Spark does not count it as done, and it comes again with the next start."""


@dataclass
class Outcome:
    """What the streams of an invocation have come to, for all threads: sums, and whether a batch has failed.

    No batch begins once `ending` is set.
    """

    totals: StreamTotals
    ending: threading.Event = field(default_factory=threading.Event)
    failed: threading.Event = field(default_factory=threading.Event)


@dataclass
class StreamBatches:
    """The batches of one stream. `turn` is held while one runs: streams that feed one model have it in common.

    `settings` are those of all its batches, with the application of the stream.
    """

    stream: StreamInput
    prepared: Prepared
    driver: Driver
    catalog: Catalog
    plans: dict[str, NodePlan]
    invocation_id: str
    settings: RunSettings
    events: Events
    outcome: Outcome
    turn: threading.Lock
    durations: dict[str, float] = field(default_factory=dict)
    working: threading.Event = field(default_factory=threading.Event)
    """Set while a batch is being worked on."""

    def work(self, batch_id: int, rows: int) -> None:
        """Runs the models of one batch. Raises BatchFailedError with every error named."""
        self.working.set()
        try:
            if self.outcome.ending.is_set():
                raise BatchFailedError("the stream is ending")
            with self.turn:
                self._work(batch_id, rows)
        finally:
            self.working.clear()

    def _work(self, batch_id: int, rows: int) -> None:
        name = self.stream.name
        started, started_at = time.monotonic(), datetime.now(timezone.utc)
        # A MERGE of no rows would take all rows of its target for missing in the source.
        plans = self.plans if rows else {}
        threads = thread_count(self.prepared, self.settings.threads, len(self.plans))
        self.events.emit(BatchStarted(stream=name, batch_id=batch_id, rows=rows, nodes=len(plans), threads=threads))
        results = [_of_batch(result, name, batch_id, started_at) for result in self._run(plans, batch_id)]
        seconds = time.monotonic() - started
        self.outcome.totals.add(results)
        self.outcome.totals.add_batch(name, rows, seconds)
        failed = [result for result in results if result.status in FAILED]
        if failed:
            self.outcome.failed.set()
        self.events.emit(
            BatchFinished(
                stream=name,
                batch_id=batch_id,
                rows=rows,
                seconds=round(seconds, 3),
                ok=not failed,
                targets=[_target_entry(result) for result in results],
                level="error" if failed else "info",
            )
        )
        for result in results:
            self._learn(result)
        if failed:
            raise BatchFailedError("; ".join(f"{result.unique_id}: {result.message}" for result in failed))

    def _run(self, plans: Mapping[str, NodePlan], batch_id: int) -> list[Result]:
        settings = replace(self.settings, batch_id=batch_id)
        run_id = f"{self.invocation_id}/{self.stream.name}/{batch_id}"
        node_run = NodeRun(self.prepared, Nodes(plans, {}, self.durations), settings, run_id, self.events)
        node_run.run(self.driver, self.catalog)
        return node_run.results

    def _learn(self, result: Result) -> None:
        """The longest merges begin first, and a target that is there need not be looked for again."""
        self.durations[result.unique_id] = result.execution_time
        if result.status in SUCCEEDED:
            plan = self.plans[result.unique_id]
            steps = tuple(step for step in plan.steps if not isinstance(step, CreateTarget))
            is_built = result.response.is_incremental is True
            self.plans[result.unique_id] = replace(plan, steps=steps, first_run=None if is_built else plan.first_run)


def _of_batch(result: Result, stream: str, batch_id: int, started_at: datetime) -> Result:
    """The result with its batch, and how long after the batch's begin it was there (ms)."""
    lag = None
    if result.timing and result.status not in FAILED:
        lag = round(1000 * (result.timing[-1].completed_at - started_at).total_seconds())
    response = replace(result.response, batch_id=batch_id, stream=StreamFigures(stream, lag))
    return replace(result, response=response, plan=None)  # the manifest has the plans that the stream began with


def _target_entry(result: Result) -> dict[str, Any]:
    response = result.adapter_response
    keys = ("rows_inserted", "rows_updated", "rows_deleted", "table_version", "lag_ms")
    figures = {key: response[key] for key in keys if response.get(key) is not None}
    return {"node": result.unique_id, "status": result.status, "seconds": round(result.execution_time, 3), **figures}
