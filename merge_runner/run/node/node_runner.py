"""Runs one node: its session, its lock, its steps, again after a conflict."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from merge_runner.engine.context import NodeContext, Tested
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.merge.duplicate_matches import duplicate_matches, several_matches
from merge_runner.engine.model_tests.data_test import read_failing_rows
from merge_runner.engine.response import NodeResponse
from merge_runner.engine.spark.errors import EngineError, engine_error, from_engine
from merge_runner.engine.spark.locks import writing
from merge_runner.engine.spark.session_conf import set_confs
from merge_runner.engine.table_format.commit_metadata import stamp
from merge_runner.engine.table_format.registry import stamp_confs
from merge_runner.engine.tables.branches import branch_confs
from merge_runner.engine.tables.catalog import Catalog, table_exists
from merge_runner.engine.tables.first_run import chosen
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.formats.failures import DUPLICATE_MATCHES, Kind
from merge_runner.graph.graph import DataTestNode, Node, run_config
from merge_runner.graph.label import named
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.model_tests import RunTest
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.node.lost_driver import NotBegunError, lost_driver
from merge_runner.run.node.outcome import error_message, error_place, outcome
from merge_runner.run.node.retry import DEFAULT_RETRIES, Attempts
from merge_runner.run.results.event_types import NodeRetried, NodeStarted, NodeWaiting, RetriedKind
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import Result, Status, Timing
from merge_runner.run.results.test_message import failing_rows, heading, rows_and_query
from merge_runner.run.scheduling.write_conflicts import WriteKey
from merge_runner.run.settings import RunSettings
from merge_runner.text import place_as_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LONGEST_QUESTION = 20.0
"""Seconds to find out why a statement failed."""


@dataclass(frozen=True)
class NodeRunner:
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
    settings: RunSettings
    stopping: threading.Event
    compile_times: Mapping[str, Timing]
    on_statement: Callable[[str, str], None]
    """Receives each MERGE as it runs, and each test whose text is known only then, by node."""
    on_plan: Callable[[str, NodePlan], None] = lambda *_: None
    """Called with the plan that runs of a node that has several."""
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
            NodeStarted(
                **named(self.nodes, unique_id), group=self.group(unique_id), expected=self.durations.get(unique_id)
            )
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
        context = NodeContext(
            session,
            self.catalog,
            self.shared,
            stamp=stamp(self.invocation_id, unique_id),
            earlier=self.settings.earlier(unique_id),
            description=f"{node.name} [{self.invocation_id}]",
            on_statement=partial(self.on_statement, unique_id),
            node=unique_id,
            touched=self.touched,
            alone=self.warehouse is not None and not self._shares(unique_id),
            batch=self.settings.batch(node),
            branch=self.settings.branch if plan.writes is not None else None,
        )
        context.output.response.branch = context.branch
        attempts, error = self._attempts(node, plan, context), None
        timed_out = threading.Event()
        timer = self._timer(node, timed_out)
        try:
            with self._lock(plan), self.driver.job_group(session, self.group(unique_id), context.description):
                self._configure(node, context)
                plan = self._chosen(plan, context)
                attempts.steps(plan)
        except Exception as failure:
            if not from_engine(failure):
                raise
            error = engine_error(failure)
        finally:
            if timer is not None:
                timer.cancel()
        if error is not None and self._is_lost(error, context):
            error = lost_driver(self.driver, error)
            if attempts.uncertain:
                error.message += "; whether its statement has committed is not known"
        if error is not None and error.kind is Kind.CANCELLED:
            error = self._cancelled(node, plan, context, timed_out.is_set() and not self.stopping.is_set())
        if error is not None and error.code in DUPLICATE_MATCHES:
            self._name_duplicates(plan, context, error)
        return self._result(node, plan, context, Timing("execute", started, _now()), attempts.tries, error)

    def _chosen(self, plan: NodePlan, context: NodeContext) -> NodePlan:
        """The plan that runs; the table is asked once, so that another attempt runs the same. Raises EngineError."""
        taken = chosen(context.session, self.catalog, plan)
        if plan.first_run is not None:
            context.output.response.is_incremental = taken is plan
            self.on_plan(plan.unique_id, taken)
        return taken

    def _attempts(self, node: Node, plan: NodePlan, context: NodeContext) -> Attempts:
        config = run_config(node)
        retries, timeout = config.retries, config.timeout
        return Attempts(
            context,
            DEFAULT_RETRIES if retries is None else retries,
            lambda: self._committed(plan, context),
            self.stopping,
            lambda error, attempt, pause: self.events.emit(
                NodeRetried(
                    **named(self.nodes, node.unique_id),
                    code=error.code,
                    kind=cast(RetriedKind, error.kind.value),
                    message=self.conceal(error.message),
                    attempt=attempt,
                    pause=pause,
                )
            ),
            time.monotonic() + timeout if timeout else None,
            lambda: self._settled(context),
        )

    def _is_lost(self, error: EngineError, context: NodeContext) -> bool:
        """Whether the driver has gone under the node."""
        return error.kind is Kind.LOST and not self._settled(context)

    def _settled(self, context: NodeContext) -> bool:
        try:
            return self.driver.settled(context.session)
        except Exception as error:
            if not from_engine(error):
                raise
            return False

    def _committed(self, plan: NodePlan, context: NodeContext) -> int | None:
        """The version that the node's statement has committed, as the table says. Raises EngineError."""
        if plan.writes is None or not table_exists(context.session, plan.writes):
            return None
        format = run_config(self.nodes[plan.unique_id]).format
        commit = context.table_format(format).commit_with(context.session, plan.writes, context.stamp)
        return commit.version if commit is not None else None

    def _cancelled(self, node: Node, plan: NodePlan, context: NodeContext, timed_out: bool) -> EngineError:
        """What to say of a node that was stopped: whether its statement had committed is asked of the table."""
        reason = f"stopped after its timeout of {run_config(node).timeout} s" if timed_out else "cancelled"
        code = "timeout" if timed_out else "cancelled"
        if plan.maintains or isinstance(node, DataTestNode):
            return EngineError(code, f"{reason}; the rows are what they were", kind=Kind.CANCELLED)
        try:
            version = self._committed(plan, context)
        except EngineError as unanswered:
            fate = f"whether its statement has committed is not known: the table says {unanswered.message}"
        else:
            fate = "nothing was committed" if version is None else f"its statement had committed as version {version}"
            if version is not None:
                context.output.response.found_commit(version)
        return EngineError(code, f"{reason}; {fate}", kind=Kind.CANCELLED)

    def _name_duplicates(self, plan: NodePlan, context: NodeContext, error: EngineError) -> None:
        """Add to the error the place of ON, and the duplicate keys where a short query finds them."""
        step = next((step for step in plan.steps if isinstance(step, RunMerge)), None)
        if step is None:
            return
        error.place = error.place or plan.locate(step.sql, step.judged.statement.on_span.start)
        if self.stopping.is_set():
            return
        try:
            with self._question(context, "duplicates"):
                found = duplicate_matches(context.session, step.target, step.judged.statement, step.judged.scope)
        except Exception as failure:
            if not from_engine(failure):
                raise
            return  # the engine's own error is kept
        if found:
            error.message = several_matches(found)

    def _test_message(self, node: DataTestNode, plan: NodePlan, context: NodeContext, response: NodeResponse) -> str:
        """Return what a data test that does not pass says; its parts are added to the response."""
        tested = cast(Tested, context.output.tested)
        rows = failing_rows(node, self.nodes, self._read_failing_rows(context, tested), self.conceal)
        only_now = any(isinstance(step, RunTest) and step.touched is not None for step in plan.steps)
        query = self.text_path(node.unique_id, "run" if only_now else "compiled")
        response.failing, response.place = replace(rows, compiled_path=query), place_as_json(node.place)
        kept_in = response.test.failures_table if response.test is not None else None
        first = heading(node, self.nodes, tested.failures, kept_in)
        return "\n".join((first, *rows_and_query(rows.failing_rows, rows.more_failing_rows, query)))

    def _read_failing_rows(self, context: NodeContext, tested: Tested) -> tuple[str, ...]:
        """Return a few failing rows of a test as JSON texts, where they can be read in a short time."""
        if tested.unread is None or self.stopping.is_set():
            return tested.rows
        try:
            with self._question(context, "failing rows"):
                return read_failing_rows(context.session, tested.unread)
        except Exception as failure:
            if not from_engine(failure):
                raise
            error = engine_error(failure)
            late = error.kind is Kind.CANCELLED
            reason = f"this took more than {_LONGEST_QUESTION:.0f} s" if late else str(error)
            context.output.warnings.append(f"the failing rows are not shown: {reason}")
            return ()

    @contextmanager
    def _question(self, context: NodeContext, about: str) -> Iterator[None]:
        """What runs inside asks why a statement failed, and is cancelled after a while."""
        group = self.groups(context.node)[1]
        timer = threading.Timer(_LONGEST_QUESTION, self.driver.cancel, [group])
        timer.daemon = True
        timer.start()
        try:
            with self.driver.job_group(context.session, group, f"{context.description} {about}"):
                yield
        finally:
            timer.cancel()

    def groups(self, unique_id: str) -> tuple[str, str]:
        """All job groups of a node: that of its statements, and that of questions after its failure."""
        return self.group(unique_id), f"{self.group(unique_id)}/why"

    def group(self, unique_id: str) -> str:
        """The job group of a node: its statements are cancelled together."""
        return f"{self.invocation_id}/{unique_id}"

    def _configure(self, node: Node, context: NodeContext) -> None:
        confs = {**stamp_confs(context.stamp), **run_config(node).conf, **branch_confs(self.settings.branch)}
        set_confs(context.session, confs)

    def _lock(self, plan: NodePlan) -> AbstractContextManager[None]:
        if plan.writes is None or self.warehouse is None:
            return nullcontext()
        return writing(
            self.warehouse,
            plan.writes.name,
            waiting=lambda message: self.events.emit(NodeWaiting(node=plan.unique_id, message=message)),
            cancelled=self.stopping.is_set,
            shared=self._shares(plan.unique_id),
        )

    def _shares(self, unique_id: str) -> bool:
        """Whether others may write the node's table at the same time, other parts of it."""
        return unique_id in self.writes and self.writes[unique_id].group > 0

    def _timer(self, node: Node, timed_out: threading.Event) -> threading.Timer | None:
        seconds = run_config(node).timeout
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
        self, node: Node, plan: NodePlan, context: NodeContext, timing: Timing, attempts: int, error: EngineError | None
    ) -> Result:
        compiled = self.compile_times.get(node.unique_id)
        response = replace(context.output.response)
        if response.operation is not None or attempts:
            response.attempts = max(1, attempts)
        if error is not None:
            status: Status = "error"
            where = error_place(error, plan, node)
            message = error_message(error, where or node.path)
            if where is not None:
                response.place = place_as_json(where)
        elif context.output.tested is not None and isinstance(node, DataTestNode):
            status = context.output.tested.verdict
            message = self._test_message(node, plan, context, response) if status != "pass" else ""
        else:
            status, message = outcome(context)
        return Result(
            node.unique_id,
            status,
            timing=(compiled, timing) if compiled else (timing,),
            thread_id=threading.current_thread().name,
            response=response,
            message=message,
            failures=context.output.tested.failures if context.output.tested else None,
            compiled_code=plan.sql or None,
            relation_name=str(node.relation) if node.relation else None,
            warnings=tuple(context.output.warnings),
        )


def _now() -> datetime:
    return datetime.now(timezone.utc)
