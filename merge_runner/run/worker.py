"""Runs one node: its session, its lock, its steps, again after a conflict, and what came of it as a Result."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.engine.failures import EngineError, Kind, engine_error, from_engine
from merge_runner.engine.locks import writing
from merge_runner.engine.metrics import stamped_commit
from merge_runner.engine.perform import perform
from merge_runner.engine.session import Driver
from merge_runner.engine.shared_inputs import SharedInputs
from merge_runner.engine.tables import Catalog
from merge_runner.engine.workplace import Workplace
from merge_runner.graph.graph import Node
from merge_runner.plan.steps import NodePlan, ReplaceTable, RunMerge
from merge_runner.run.events import Events
from merge_runner.run.results import Result, Status, Timing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_RETRIES = 3
"""How often a statement is run again after another writer committed first, where the model does not say."""

_LONGEST_PAUSE = 10.0


@dataclass(frozen=True)
class Worker:
    """Runs nodes of one invocation in the threads of the scheduler."""

    driver: Driver
    warehouse: Path | None
    """The folder of the embedded tables; None where a catalog keeps them."""
    catalog: Catalog
    shared: SharedInputs
    plans: Mapping[str, NodePlan]
    nodes: Mapping[str, Node]
    events: Events
    invocation_id: str
    stopping: threading.Event
    compile_times: Mapping[str, Timing]
    on_merge: Callable[[str, str], None]
    """Told of each MERGE as it will run, by node."""

    def run(self, unique_id: str) -> Result:
        """Runs the node; every failure is in the Result."""
        name = self.nodes[unique_id].name
        self.events.emit("node_started", node=unique_id, name=name, group=self.group(unique_id))
        try:
            with self.driver.session() as session:
                return self._run(unique_id, session)
        except Exception as error:
            if not from_engine(error):
                raise
            # There is no session, nor a way to ask the table any more: the driver has gone.
            return Result(unique_id, "error", message=f"the Spark driver is lost: {engine_error(error).message}")

    def _run(self, unique_id: str, session: SparkSession) -> Result:
        node, plan = self.nodes[unique_id], self.plans[unique_id]
        started = _now()
        place = Workplace(
            session,
            self.catalog,
            self.shared,
            stamp=json.dumps({"merge_runner": {"invocation_id": self.invocation_id, "node": unique_id}}),
            description=f"{node.name} [{self.invocation_id}]",
            on_merge=partial(self.on_merge, unique_id),
        )
        attempts, error = 0, None
        timer = self._timer(node)
        try:
            with self._lock(plan), self.driver.job_group(session, self.group(unique_id), place.description):
                attempts = self._steps(node, plan, place)
        except Exception as failure:
            if not from_engine(failure):
                raise
            error = engine_error(failure)
        finally:
            timed_out = timer is not None and timer.finished.is_set()
            if timer is not None:
                timer.cancel()
        if error is not None and error.kind is Kind.CANCELLED:
            error = self._cancelled(node, plan, place, timed_out and not self.stopping.is_set())
        return self._result(node, plan, place, Timing("execute", started, _now()), attempts, error)

    def _cancelled(self, node: Node, plan: NodePlan, place: Workplace, timed_out: bool) -> EngineError:
        """What to say of a node that was stopped: whether its statement had committed is asked of the table."""
        reason = f"stopped after its timeout of {node.config['timeout']} s" if timed_out else "cancelled"
        fate = "nothing was committed"
        if plan.writes is not None and node.config.get("format") == "delta":
            try:
                commit = stamped_commit(place.session, plan.writes, place.stamp)
            except EngineError:  # the table was not there yet, or the driver is gone
                commit = None
            if commit is not None:
                place.response["table_version"] = commit.version
                fate = f"its statement had committed as version {commit.version}"
        return EngineError("timeout" if timed_out else "cancelled", f"{reason}; {fate}", kind=Kind.CANCELLED)

    def group(self, unique_id: str) -> str:
        """The job group of a node: its statements are cancelled together."""
        return f"{self.invocation_id}/{unique_id}"

    def _steps(self, node: Node, plan: NodePlan, place: Workplace) -> int:
        """Performs the steps, a writing one again after a conflict; returns how often that one was tried."""
        self._configure(node, place)
        tries = 1
        for step in plan.steps:
            allowed = 1
            if isinstance(step, (RunMerge, ReplaceTable)):
                retries = node.config.get("retries")
                allowed += DEFAULT_RETRIES if retries is None else retries
            for attempt in range(1, allowed + 1):
                if self.stopping.is_set():
                    raise InterruptedError
                try:
                    perform(step, place)
                except EngineError as error:
                    if error.kind is not Kind.CONFLICT or attempt == allowed:
                        raise
                    pause = min(_LONGEST_PAUSE, 0.5 * 2**attempt) * random.uniform(0.5, 1.0)
                    self.events.emit(
                        "node_retried",
                        "warn",
                        node=node.unique_id,
                        name=node.name,
                        code=error.code,
                        attempt=attempt,
                        pause=pause,
                    )
                    time.sleep(pause)
                else:
                    tries = max(tries, attempt)
                    break
        return tries

    def _configure(self, node: Node, place: Workplace) -> None:
        confs: dict[str, Any] = {
            **self.driver.session_confs,
            "spark.databricks.delta.commitInfo.userMetadata": place.stamp,
            **(node.config.get("conf") or {}),
        }
        for key, value in confs.items():
            place.session.conf.set(key, value)

    def _lock(self, plan: NodePlan) -> AbstractContextManager[None]:
        if plan.writes is None or self.warehouse is None:
            return nullcontext()
        return writing(
            self.warehouse,
            plan.writes.name,
            waiting=lambda message: self.events.emit("node_waiting", "warn", node=plan.unique_id, message=message),
            cancelled=self.stopping.is_set,
        )

    def _timer(self, node: Node) -> threading.Timer | None:
        seconds = node.config.get("timeout")
        if not seconds:
            return None
        timer = threading.Timer(seconds, self.driver.cancel, [self.group(node.unique_id)])
        timer.daemon = True
        timer.start()
        return timer

    def _result(
        self, node: Node, plan: NodePlan, place: Workplace, timing: Timing, attempts: int, error: EngineError | None
    ) -> Result:
        compiled = self.compile_times.get(node.unique_id)
        response = dict(place.response)
        if "operation" in response:
            response["attempts"] = attempts
        if error is not None:
            status: Status = "error"
            message = _error_message(error, plan)
        else:
            status, message = _outcome(place)
        return Result(
            node.unique_id,
            status,
            timing=(compiled, timing) if compiled else (timing,),
            thread_id=threading.current_thread().name,
            adapter_response=response,
            message=message,
            failures=place.tested.failures if place.tested else None,
            compiled_code=plan.sql or None,
            relation_name=str(node.relation) if node.relation else None,
            warnings=tuple(place.warnings),
        )


def _outcome(place: Workplace) -> tuple[Status, str]:
    response = place.response
    if place.tested is not None:
        return place.tested.verdict, "" if place.tested.verdict == "pass" else f"{place.tested.failures:,} failures"
    if response.get("operation") == "MERGE":
        parts = [
            f"{response[key]:,} {kind}"
            for key, kind in (("rows_inserted", "inserted"), ("rows_updated", "updated"), ("rows_deleted", "deleted"))
            if response.get(key) is not None
        ]
        return "success", ", ".join(parts)
    if response.get("rows_affected") is not None:
        return "success", f"{response['rows_affected']:,} rows"
    return "success", ""


def _error_message(error: EngineError, plan: NodePlan) -> str:
    where = plan.locate(error.statement, error.offset)
    return f"{where}: {error}" if where is not None else str(error)


def _now() -> datetime:
    return datetime.now(timezone.utc)
