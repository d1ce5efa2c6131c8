"""A Spark driver in a separate JVM, on any master."""

from __future__ import annotations

import gc
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from merge_runner.engine.driver.driver import Waits
from merge_runner.engine.spark.appcds import wait_for_archive
from merge_runner.engine.spark.connection_loss import forget, knows_its_end
from merge_runner.engine.spark.errors import EngineError, Kind, from_engine, silence_error_log
from merge_runner.engine.spark.health_check import Pulse
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.engine.spark.nested_assignments import assign_columns_before_delta
from merge_runner.engine.spark.sql import name_caller, set_confs
from merge_runner.engine.table_format.registry import table_format
from merge_runner.formats.merge_plans import phase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.spark.jvm import Jvm

_CANCEL_SECONDS = 0.3


@dataclass(frozen=True)
class ClassicDriver:
    """A Spark driver in a separate JVM, on any master."""

    spark: SparkSession
    on_end: Callable[[], None] = lambda: None
    """Is called when Spark has stopped."""
    fate: Callable[[], str | None] = lambda: None
    """How the JVM has ended, as text; None while it runs, and where it is not known."""
    killed: Callable[[], None] = lambda: None
    """Ends the JVM in the middle of whatever it does."""
    stops_with_jvm: bool = False
    """Whether Spark stops when its JVM ends, without a wait: there is neither a cluster to leave nor an event log."""
    running: set[str] = field(default_factory=set)
    """The groups whose blocks are open."""
    waits: Waits = field(default_factory=Waits)
    table_format = staticmethod(table_format)

    @contextmanager
    def session(self, confs: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
        """A session with all that Spark was started with, and `confs`.

        It is not stopped: that would stop the driver, which all sessions share.
        """
        if self._has_stopped():
            raise EngineError("spark-stopped", "Spark has stopped", kind=Kind.LOST)
        session = self.spark.newSession()
        try:
            set_confs(session, confs or {})
            yield session
        finally:
            _close_catalogs(session)

    @contextmanager
    def job_group(self, session: SparkSession, group: str, description: str) -> Iterator[None]:
        """Statements of this thread inside the block belong to `group` (cancelled together, a separate FAIR pool)."""
        self.running.add(group)
        self._begin(session, group, description)
        try:
            yield
        finally:
            forget()
            self.running.discard(group)
            # Local properties stick to the thread, which runs other models afterwards.
            with _if_it_is_there():
                for key in ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool"):
                    session.sparkContext.setLocalProperty(key, None)  # type: ignore[arg-type]  # None clears it
                name_caller(session.sparkContext, None)

    def _begin(self, session: SparkSession, group: str, description: str) -> None:
        knows_its_end(session, lambda: self._begin(session, group, description))
        session.sparkContext.setJobGroup(group, description, interruptOnCancel=True)
        session.sparkContext.setLocalProperty("spark.scheduler.pool", group)
        name_caller(session.sparkContext, description)

    def settled(self, session: SparkSession) -> bool:
        """Whether Spark runs: a broken connection is reported after its command has ended (connection_loss.py)."""
        return not self._has_stopped()

    def _has_stopped(self) -> bool:
        return bool(self.spark.sparkContext._jsc.sc().isStopped())

    def cancel(self, group: str) -> None:
        """Cancels the jobs of a group, those that it would start next included."""
        self._cancel(group)
        if group in self.running:
            threading.Thread(target=self._keep_cancelling, args=(group,), daemon=True).start()

    def _keep_cancelling(self, group: str) -> None:
        # Spark refuses the later jobs of a cancelled group, but not the stages that adaptive execution starts by
        # themselves (DAGScheduler.handleMapStageSubmitted): what began just afterwards would run to its end.
        while group in self.running:
            time.sleep(_CANCEL_SECONDS)
            with suppress(Exception):  # the group, and the driver with it, may just have ended
                self._cancel(group)

    def _cancel(self, group: str) -> None:
        # A MERGE is several jobs, so the group's later ones must not start either; PySpark has no name for this.
        with _if_it_is_there():
            internals().cancel(self.spark.sparkContext._jsc.sc(), group)

    def tasks(self, group: str) -> tuple[int, int]:
        """Tasks done and known of a group's active stages."""
        done = total = 0
        tracker = self.spark.sparkContext.statusTracker()
        for job in tracker.getJobIdsForGroup(group):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else ():
                stage_info = tracker.getStageInfo(stage)
                if stage_info:
                    done += stage_info.numCompletedTasks
                    total += stage_info.numTasks
        return done, total

    def phase(self, group: str) -> str | None:
        """The phase of a MERGE that the group's latest jobs are about."""
        store = self.spark.sparkContext._jsc.sc().statusStore()
        for job in sorted(self.spark.sparkContext.statusTracker().getJobIdsForGroup(group), reverse=True):
            description = store.job(job).description()
            description_phase = phase(str(description.get())) if description.isDefined() else None
            if description_phase is not None:
                return description_phase
        return None

    def pulse(self) -> Callable[[], str | None]:
        """A function for another thread that returns what keeps the driver from going on, as text."""
        return Pulse(self.spark).trouble

    def stop(self) -> None:
        """Ends the driver and its JVM's Spark."""
        lost = self.fate() is not None
        if not lost and self.stops_with_jvm and not self.running:
            _forget(self.spark)
        elif not lost:
            try:
                self.spark.stop()
            except Exception as error:
                if not from_engine(error):
                    raise
                lost = True
        if lost:
            release(self.spark)
        self.on_end()

    def kill(self) -> None:
        """Ends the driver in the middle of whatever it does, whether or not it answers."""
        self.killed()


@contextmanager
def _if_it_is_there() -> Iterator[None]:
    """A driver that is lost has nothing to cancel or stop; the results say that it is lost."""
    try:
        yield
    except Exception as error:
        if not from_engine(error):
            raise


def open_driver(confs: Mapping[str, str], jvm: Jvm | None) -> ClassicDriver:
    """Starts Spark with the confs in a JVM that `launch` gave; None: in the one that PySpark has, or would start.

    Raises whatever PySpark, Py4J and Spark raise.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    silence_error_log()
    conf = SparkConf(loadDefaults=True).setAll(list(confs.items()))
    if jvm is None:
        running = SparkSession.builder.config(conf=conf).getOrCreate()
        assign_columns_before_delta(running)
        return ClassicDriver(running)

    def on_end() -> None:
        jvm.end(wait=False)
        forget_gateway()
        wait_for_archive(jvm.process, os.environ)

    spark = SparkSession(SparkContext(conf=conf, gateway=jvm.connect()))
    assign_columns_before_delta(spark)
    return ClassicDriver(spark, on_end=on_end, fate=jvm.fate, killed=jvm.kill, stops_with_jvm=stops_with_jvm(confs))


def stops_with_jvm(confs: Mapping[str, str]) -> bool:
    """Whether Spark with these confs stops when its JVM ends, so that nothing needs to wait for it."""
    logs = confs.get("spark.eventLog.enabled", "false").strip().lower() == "true"
    return confs.get("spark.master", "").startswith("local") and not logs


def release(spark: SparkSession) -> None:
    """PySpark in this process forgets the JVM of a session, without stopping what runs there."""
    from pyspark import SparkContext

    open_gateway = SparkContext._gateway
    _forget(spark)
    gc.collect()  # objects of the JVM that are no longer referenced are released while the gateway is open
    if open_gateway is not None:
        with suppress(Exception):
            _hang_up(open_gateway)
            open_gateway.close()
    forget_gateway()


def _forget(spark: SparkSession) -> None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context: Any = spark.sparkContext
    server, context._jsc, context._accumulatorServer = context._accumulatorServer, None, None
    if server is not None:  # its end takes up to half a second
        threading.Thread(target=_end_accumulators, args=(server,), name="accumulators-end", daemon=True).start()
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _end_accumulators(server: Any) -> None:
    with suppress(Exception):  # only notifies workers of Python functions, which may have gone
        server.shutdown()


def _hang_up(open_gateway: Any) -> None:
    """Ends what a thread waits for on a connection by which the JVM has called Python, as a stream's batches do.

    Py4J would wait for that thread before it closes the connection, and the thread for a JVM that goes on.
    """
    for connection in list(open_gateway._gateway_client.deque):
        with suppress(OSError):
            connection.socket.shutdown(socket.SHUT_RDWR)


def forget_gateway() -> None:
    """PySpark keeps one gateway in the life of a process: it has gone, and the next driver may have another.

    Where Spark is running, the gateway is that of another driver, and stays.
    """
    from pyspark import SparkContext

    if SparkContext._active_spark_context is None:
        SparkContext._gateway = SparkContext._jvm = None


_SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_JDBC_CATALOG = "org.apache.iceberg.jdbc.JdbcCatalog"


def _close_catalogs(session: SparkSession) -> None:
    """Closes the connections of Iceberg's JDBC catalogs that the session has opened.

    Every session has its own catalogs, and nothing in Spark closes them: with SQLite each would keep two files open
    as long as the driver lives (Iceberg 1.12.0), and a stream has a session for each model of each batch. Raises
    nothing: a driver that is lost keeps nothing open.
    """
    with suppress(Exception):
        manager = session._jsparkSession.sessionState().catalogManager()
        everything = java_class(session, "scala.Option").empty()
        for name in str(manager.listCatalogs(everything).mkString("\n")).splitlines():
            catalog = manager.catalog(name)  # those that are listed are loaded
            if catalog.getClass().getName() == _SPARK_CATALOG:
                own = catalog.icebergCatalog()
                if own.getClass().getName() == _JDBC_CATALOG:
                    own.close()
