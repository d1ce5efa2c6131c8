"""Runs one node: its session, its lock, its steps, retries after a conflict, and its outcome as a Result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from merge_runner.engine.context import Batch, Tested, Workplace
from merge_runner.engine.log.commit_metadata import stamp, stamp_confs, stamped_commit
from merge_runner.engine.maintenance.optimize import changed_files, in_words
from merge_runner.engine.merge.duplicate_matches import duplicate_matches, several_matches
from merge_runner.engine.model_tests.data_test import read_failing_rows
from merge_runner.engine.spark.driver import Driver
from merge_runner.engine.spark.errors import EngineError, engine_error, from_engine
from merge_runner.engine.spark.locks import writing
from merge_runner.engine.spark.session_conf import set_confs
from merge_runner.engine.tables.branches import branch_confs
from merge_runner.engine.tables.catalog import Catalog, table_exists
from merge_runner.engine.tables.first_run import chosen
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.formats.failures import DUPLICATE_MATCHES, Kind
from merge_runner.graph.graph import Node
from merge_runner.graph.label import named
from merge_runner.plan.steps.steps import NodePlan, RunMerge, RunTest
from merge_runner.run.node.lost_driver import NotBegunError, lost_driver
from merge_runner.run.node.retry import DEFAULT_RETRIES, Attempts
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import Result, Status, Timing
from merge_runner.run.results.test_message import failing_rows, heading, rows_and_query
from merge_runner.run.scheduling.write_conflicts import WriteKey
from merge_runner.text import Place, place_as_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ALTERED = 3
"""Alterations that a result's line names; `altered` in the response has all."""

_LONGEST_QUESTION = 20.0
"""Seconds to find out why a statement failed."""


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
    on_statement: Callable[[str, str], None]
    """Receives each MERGE as it runs, and each test whose text is known only then, by node."""
    on_plan: Callable[[str, NodePlan], None] = lambda *_: None
    """Called with the plan that runs of a node that has several."""
    batch: Callable[[str], Batch | None] = lambda _: None
    """The batch that the MERGE of a node is stamped with."""
    branch: str | None = None
    """The branch of their Iceberg tables that sessions write, and read where it is there."""
    begun: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Nodes whose MERGE may have committed in an earlier invocation, with the ids of these invocations."""
    writes: Mapping[str, WriteKey] = field(default_factory=dict)
    """What each node writes: a part of a table that another one writes as well, or the whole table."""
    touched: dict[str, str | None] = field(default_factory=dict)
    """The bounds that the MERGEs of this run had, by node."""
    conceal: Callable[[str], str] = str
    """Takes secrets out of a message."""
    durations: Mapping[str, float] = field(default_factory=dict)
    """How long nodes took in the last run, in seconds."""
    text_path: Callable[[str, str], str] = "{1}/{0}".format
    """Gives the path of a node's text in a folder of target/ (`compiled` or `run`)."""

    def run(self, unique_id: str) -> Result:
        """Runs the node; every failure is in the Result. Raises NotBegunError where the driver is lost before."""
        self.events.emit(
            "node_started",
            **named(self.nodes, unique_id),
            group=self.group(unique_id),
            expected=self.durations.get(unique_id),
        )
        with ExitStack() as sessions:
            try:
                session = sessions.enter_context(self.driver.session())
            except Exception as error:
                if not from_engine(error):
                    raise
                raise NotBegunError(lost_driver(self.driver, error, seconds=0)) from error
            try:
                return self._run(unique_id, session)
            except Exception as error:
                if not from_engine(error):
                    raise
                # There is no way to ask the table any more.
                return Result(unique_id, "error", message=str(lost_driver(self.driver, error)))

    def _run(self, unique_id: str, session: SparkSession) -> Result:
        node, plan = self.nodes[unique_id], self.plans[unique_id]
        started = _now()
        place = Workplace(
            session,
            self.catalog,
            self.shared,
            stamp=stamp(self.invocation_id, unique_id),
            earlier=tuple(stamp(earlier, unique_id) for earlier in self.begun.get(unique_id, ())),
            description=f"{node.name} [{self.invocation_id}]",
            on_statement=partial(self.on_statement, unique_id),
            node=unique_id,
            touched=self.touched,
            alone=self.warehouse is not None and not self._shares(unique_id),
            # What reads changes commits once by what it has consumed.
            batch=self.batch(unique_id) if node.changes_of is None else None,
        )
        if self.branch is not None and plan.writes is not None:
            place.response["branch"] = self.branch
        attempts, error = self._attempts(node, plan, place), None
        timed_out = threading.Event()
        timer = self._timer(node, timed_out)
        try:
            with self._lock(plan), self.driver.job_group(session, self.group(unique_id), place.description):
                self._configure(node, place)
                plan = self._chosen(plan, place)
                attempts.steps(plan)
        except Exception as failure:
            if not from_engine(failure):
                raise
            error = engine_error(failure)
        finally:
            if timer is not None:
                timer.cancel()
        if error is not None and self._is_lost(error, place):
            error = lost_driver(self.driver, error)
            if attempts.uncertain:
                error.message += "; whether its statement has committed is not known"
        if error is not None and error.kind is Kind.CANCELLED:
            error = self._cancelled(node, plan, place, timed_out.is_set() and not self.stopping.is_set())
        if error is not None and error.code in DUPLICATE_MATCHES:
            self._name_duplicates(plan, place, error)
        return self._result(node, plan, place, Timing("execute", started, _now()), attempts.tries, error)

    def _chosen(self, plan: NodePlan, place: Workplace) -> NodePlan:
        """The plan that runs; the table is asked once, so that another attempt runs the same. Raises EngineError."""
        taken = chosen(place.session, self.catalog, plan)
        if plan.first_run is not None:
            place.response["is_incremental"] = taken is plan
            self.on_plan(plan.unique_id, taken)
        return taken

    def _attempts(self, node: Node, plan: NodePlan, place: Workplace) -> Attempts:
        retries = node.config.get("retries")
        timeout = node.config.get("timeout")
        return Attempts(
            place,
            DEFAULT_RETRIES if retries is None else retries,
            lambda: self._committed(plan, place),
            self.stopping,
            lambda error, attempt, pause: self.events.emit(
                "node_retried",
                "warn",
                **named(self.nodes, node.unique_id),
                code=error.code,
                kind=error.kind.value,
                message=self.conceal(error.message),
                attempt=attempt,
                pause=pause,
            ),
            time.monotonic() + timeout if timeout else None,
            lambda: self._settled(place),
        )

    def _is_lost(self, error: EngineError, place: Workplace) -> bool:
        """Whether the driver has gone under the node."""
        return error.kind is Kind.LOST and not self._settled(place)

    def _settled(self, place: Workplace) -> bool:
        try:
            return self.driver.settled(place.session)
        except Exception as error:
            if not from_engine(error):
                raise
            return False

    def _committed(self, plan: NodePlan, place: Workplace) -> int | None:
        """The version that the node's statement has committed, as the table says. Raises EngineError."""
        if plan.writes is None or not table_exists(place.session, plan.writes):
            return None
        format = self.nodes[plan.unique_id].config.get("format")
        commit = stamped_commit(place.session, plan.writes, format, place.stamp)
        return commit.version if commit is not None else None

    def _cancelled(self, node: Node, plan: NodePlan, place: Workplace, timed_out: bool) -> EngineError:
        """What to say of a node that was stopped: whether its statement had committed is asked of the table."""
        reason = f"stopped after its timeout of {node.config['timeout']} s" if timed_out else "cancelled"
        code = "timeout" if timed_out else "cancelled"
        if plan.maintains or node.resource_type == "test":
            return EngineError(code, f"{reason}; the rows are what they were", kind=Kind.CANCELLED)
        try:
            version = self._committed(plan, place)
        except EngineError as unanswered:
            fate = f"whether its statement has committed is not known: the table says {unanswered.message}"
        else:
            fate = "nothing was committed" if version is None else f"its statement had committed as version {version}"
            if version is not None:
                place.response["table_version"] = version
        return EngineError(code, f"{reason}; {fate}", kind=Kind.CANCELLED)

    def _name_duplicates(self, plan: NodePlan, place: Workplace, error: EngineError) -> None:
        """Add to the error the place of ON, and the duplicate keys where a short query finds them."""
        step = next((step for step in plan.steps if isinstance(step, RunMerge)), None)
        if step is None:
            return
        error.place = error.place or plan.locate(step.sql, step.judged.statement.on_span.start)
        if self.stopping.is_set():
            return
        try:
            with self._question(place, "duplicates"):
                found = duplicate_matches(place.session, step.target, step.judged.statement, step.judged.scope)
        except Exception as failure:
            if not from_engine(failure):
                raise
            return  # the engine's own error is kept
        if found:
            error.message = several_matches(found)

    def _test_message(self, node: Node, plan: NodePlan, place: Workplace, response: dict[str, Any]) -> str:
        """Return what a data test that does not pass says; its parts are added to the response."""
        tested = cast(Tested, place.tested)
        response |= failing_rows(node, self.nodes, self._read_failing_rows(place, tested), self.conceal)
        only_now = any(isinstance(step, RunTest) and step.touched is not None for step in plan.steps)
        response["compiled_path"] = self.text_path(node.unique_id, "run" if only_now else "compiled")
        response["place"] = place_as_json(node.place)
        first = heading(node, self.nodes, tested.failures, response.get("failures_table"))
        return "\n".join((first, *rows_and_query(response)))

    def _read_failing_rows(self, place: Workplace, tested: Tested) -> tuple[str, ...]:
        """Return a few failing rows of a test as JSON texts, where they can be read in a short time."""
        if tested.unread is None or self.stopping.is_set():
            return tested.rows
        try:
            with self._question(place, "failing rows"):
                return read_failing_rows(place.session, tested.unread)
        except Exception as failure:
            if not from_engine(failure):
                raise
            error = engine_error(failure)
            late = error.kind is Kind.CANCELLED
            reason = f"this took more than {_LONGEST_QUESTION:.0f} s" if late else str(error)
            place.warnings.append(f"the failing rows are not shown: {reason}")
            return ()

    @contextmanager
    def _question(self, place: Workplace, about: str) -> Iterator[None]:
        """What runs inside asks why a statement failed, and is cancelled after a while."""
        group = self.groups(place.node)[1]
        timer = threading.Timer(_LONGEST_QUESTION, self.driver.cancel, [group])
        timer.daemon = True
        timer.start()
        try:
            with self.driver.job_group(place.session, group, f"{place.description} {about}"):
                yield
        finally:
            timer.cancel()

    def groups(self, unique_id: str) -> tuple[str, str]:
        """All job groups of a node: that of its statements, and that of questions after its failure."""
        return self.group(unique_id), f"{self.group(unique_id)}/why"

    def group(self, unique_id: str) -> str:
        """The job group of a node: its statements are cancelled together."""
        return f"{self.invocation_id}/{unique_id}"

    def _configure(self, node: Node, place: Workplace) -> None:
        confs = {**stamp_confs(place.stamp), **(node.config.get("conf") or {}), **branch_confs(self.branch)}
        set_confs(place.session, confs)

    def _lock(self, plan: NodePlan) -> AbstractContextManager[None]:
        if plan.writes is None or self.warehouse is None:
            return nullcontext()
        return writing(
            self.warehouse,
            plan.writes.name,
            waiting=lambda message: self.events.emit("node_waiting", "warn", node=plan.unique_id, message=message),
            cancelled=self.stopping.is_set,
            shared=self._shares(plan.unique_id),
        )

    def _shares(self, unique_id: str) -> bool:
        """Whether others may write the node's table at the same time, other parts of it."""
        return unique_id in self.writes and self.writes[unique_id].group > 0

    def _timer(self, node: Node, timed_out: threading.Event) -> threading.Timer | None:
        seconds = node.config.get("timeout")
        if not seconds:
            return None

        def stop() -> None:
            timed_out.set()
            self.driver.cancel(self.group(node.unique_id))

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        return timer

    def _result(
        self, node: Node, plan: NodePlan, place: Workplace, timing: Timing, attempts: int, error: EngineError | None
    ) -> Result:
        compiled = self.compile_times.get(node.unique_id)
        response = dict(place.response)
        if "operation" in response or attempts:
            response["attempts"] = max(1, attempts)
        if error is not None:
            status: Status = "error"
            where = error_place(error, plan, node)
            message = error_message(error, where or node.path)
            if where is not None:
                response["place"] = place_as_json(where)
        elif place.tested is not None and node.resource_type == "test":
            status = place.tested.verdict
            message = self._test_message(node, plan, place, response) if status != "pass" else ""
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
    if place.no_op is not None:
        return "no-op", place.no_op + _left_out(response)
    if place.tested is not None:
        return place.tested.verdict, place.tested.words or ""
    if response.get("operation") == "MERGE":
        parts = [
            f"{response[key]:,} {kind}"
            for key, kind in (("rows_inserted", "inserted"), ("rows_updated", "updated"), ("rows_deleted", "deleted"))
            if response.get(key) is not None
        ]
        first = "; the history that the table held is replaced" if response.get("history_replaced") else ""
        first += "; first run" if response.get("is_incremental") is False else ""
        scan = _bounds(response, place.bounds_news)
        return "success", ", ".join(parts) + first + scan + _altered(response) + _compacted(response)
    if response.get("operation") == "OPTIMIZE":
        return ("success" if changed_files(response) else "no-op"), in_words(response)
    if response.get("rows_affected") is not None:
        rows = response["rows_affected"]
        return "success", f"{rows:,} row{'' if rows == 1 else 's'}"
    return "success", ""


def _left_out(response: Mapping[str, Any]) -> str:
    """Return that hooks before a MERGE that has committed already did not run."""
    count = response.get("pre_hooks_left_out", 0)
    if not count:
        return ""
    hooks = "its pre_hook does" if count == 1 else f"{count} of its pre_hooks do"
    return f"; {hooks} not run again, post_hooks do"


def _bounds(response: Mapping[str, Any], news: Sequence[str]) -> str:
    """Return what bounded the scan, and those reasons for no bounds that are not the same on every run."""
    said = "".join(f"; {column} bounded to {words}" for column, words in response.get("bounds", {}).items())
    return said + "".join(f"; no bounds: {reason}" for reason in news)


def _altered(response: Mapping[str, Any]) -> str:
    """Return what was altered of the table before, as one part of the line."""
    words = response.get("altered", ())
    more = f" and {len(words) - _ALTERED} more" if len(words) > _ALTERED else ""
    return f"; altered: {', '.join(words[:_ALTERED])}{more}" if words else ""


def _compacted(response: Mapping[str, Any]) -> str:
    """The effect on the table's files of the maintenance afterwards, where there was something to do."""
    done = response.get("optimized")
    return f"; optimized: {in_words(done)}" if done and changed_files(done) else ""


def error_message(error: EngineError, where: Place | str | None) -> str:
    """Return what an error says, after its place or file where it is one of the statement or its data."""
    return str(error) if where is None or error.kind is not Kind.USER else f"{where}: {error}"


def error_place(error: EngineError, plan: NodePlan, node: Node) -> Place | None:
    """Return where an error is: where the engine says in the plan's text, else the place of the test; None: unknown."""
    where = error.place or plan.locate(error.statement, error.offset)
    return node.place if where is None and node.resource_type in ("test", "unit_test") else where


def _now() -> datetime:
    return datetime.now(timezone.utc)
