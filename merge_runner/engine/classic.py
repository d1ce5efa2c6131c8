"""A Spark driver in a JVM of its own beside this process, on whatever master."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.engine.failures import from_engine, silence_error_log
from merge_runner.engine.session_catalogs import close_catalogs
from merge_runner.formats.phases import phase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.jvm import Jvm

_CANCEL_SECONDS = 0.3


@dataclass(frozen=True)
class ClassicDriver:
    """A Spark driver in a JVM of its own beside this process, on whatever master."""

    spark: SparkSession
    session_confs: Mapping[str, str] = field(default_factory=dict)
    """Empty: a new session inherits all that Spark was started with."""
    ended: Callable[[], None] = lambda: None
    """Is called when Spark has stopped."""
    running: set[str] = field(default_factory=set)
    """The groups whose blocks are open."""

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        """A session of its own. It is not stopped: that would stop the driver, which all sessions share."""
        session = self.spark.newSession()
        try:
            yield session
        finally:
            close_catalogs(session)

    @contextmanager
    def job_group(self, session: SparkSession, group: str, description: str) -> Iterator[None]:
        """Statements of this thread inside the block belong to `group` (cancelled together, a FAIR pool of its own)."""
        self.running.add(group)
        context = session.sparkContext
        context.setJobGroup(group, description, interruptOnCancel=True)
        context.setLocalProperty("spark.scheduler.pool", group)
        try:
            yield
        finally:
            self.running.discard(group)
            # Local properties stick to the thread, which runs other models afterwards.
            for key in ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool"):
                context.setLocalProperty(key, None)  # type: ignore[arg-type]  # None clears it

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
            self.spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(group)

    def tasks(self, group: str) -> tuple[int, int]:
        """Tasks done and known of a group's active stages."""
        done = known = 0
        tracker = self.spark.sparkContext.statusTracker()
        for job in tracker.getJobIdsForGroup(group):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else ():
                stage_info = tracker.getStageInfo(stage)
                if stage_info:
                    done += stage_info.numCompletedTasks
                    known += stage_info.numTasks
        return done, known

    def phase(self, group: str) -> str | None:
        """The phase of a MERGE that the group's latest jobs are about."""
        store = self.spark.sparkContext._jsc.sc().statusStore()
        for job in sorted(self.spark.sparkContext.statusTracker().getJobIdsForGroup(group), reverse=True):
            description = store.job(job).description()
            found = phase(str(description.get())) if description.isDefined() else None
            if found is not None:
                return found
        return None

    def stop(self) -> None:
        """Ends the driver and its JVM's Spark."""
        with _if_it_is_there():
            self.spark.stop()
        self.ended()


@contextmanager
def _if_it_is_there() -> Iterator[None]:
    """A driver that is lost has nothing to cancel or stop; the results say that it is lost."""
    try:
        yield
    except Exception as error:
        if not from_engine(error):
            raise


def open_driver(
    confs: Mapping[str, str], jvm: Jvm | None, afterwards: Callable[[], None] = lambda: None
) -> ClassicDriver:
    """Starts Spark with the confs in a JVM that `launch` gave; None: in the one that PySpark has, or would start.

    `afterwards` is called when Spark has been stopped. Raises whatever PySpark, Py4J and Spark raise.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    silence_error_log()
    conf = SparkConf(loadDefaults=True).setAll(list(confs.items()))
    if jvm is None:
        return ClassicDriver(SparkSession.builder.config(conf=conf).getOrCreate())

    def ended() -> None:
        jvm.end(wait=False)
        forget_gateway()
        afterwards()

    return ClassicDriver(SparkSession(SparkContext(conf=conf, gateway=jvm.connect())), ended=ended)


def forget_gateway() -> None:
    """PySpark keeps one gateway in the life of a process: it has gone, and the next driver may have another.

    Where Spark is running, the gateway is that of another driver, and stays.
    """
    from pyspark import SparkContext

    if SparkContext._active_spark_context is None:
        SparkContext._gateway = SparkContext._jvm = None
