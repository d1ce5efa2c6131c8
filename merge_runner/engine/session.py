"""The Spark driver of one invocation, and a session of its own for each model that runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from merge_runner.engine.confs import spark_confs, table_formats
from merge_runner.engine.failures import first_line, from_engine, silence_error_log
from merge_runner.engine.jars import fetch_jars
from merge_runner.engine.java import require_java
from merge_runner.errors import Problem, ProblemsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.project.profile import Profile

_LOG_LIMIT = 10 << 20


class Driver(Protocol):
    """A running Spark: a driver in this process (ClassicDriver), or a server far away (ConnectDriver)."""

    @property
    def spark(self) -> SparkSession:
        """The first session, which lives as long as the driver."""

    @property
    def session_confs(self) -> Mapping[str, str]:
        """The profile's confs that each new session has yet to be given."""

    def session(self) -> AbstractContextManager[SparkSession]:
        """A session of its own: confs and temporary views are shared with nobody."""

    def job_group(self, session: SparkSession, group: str, description: str) -> AbstractContextManager[None]:
        """What this thread runs in the session inside the block belongs to `group`."""

    def cancel(self, group: str) -> None:
        """Cancels what a group runs, and what it would run next."""

    def tasks(self, group: str) -> tuple[int, int]:
        """Tasks done and known of a group's active stages. The second number grows while a statement runs."""

    def stop(self) -> None:
        """Ends the driver, or the connection; what was running is lost."""


@dataclass(frozen=True)
class ClassicDriver:
    """A Spark driver in a JVM of its own beside this process, on whatever master."""

    spark: SparkSession
    session_confs: Mapping[str, str] = field(default_factory=dict)
    """Empty: a new session inherits all that Spark was started with."""

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        """A session of its own. It is not stopped: that would stop the driver, which all sessions share."""
        yield self.spark.newSession()

    @contextmanager
    def job_group(self, session: SparkSession, group: str, description: str) -> Iterator[None]:
        """Statements of this thread inside the block belong to `group` (cancelled together, a FAIR pool of its own)."""
        context = session.sparkContext
        context.setJobGroup(group, description, interruptOnCancel=True)
        context.setLocalProperty("spark.scheduler.pool", group)
        try:
            yield
        finally:
            # Local properties stick to the thread, which runs other models afterwards.
            for key in ("spark.jobGroup.id", "spark.job.description", "spark.scheduler.pool"):
                context.setLocalProperty(key, None)  # type: ignore[arg-type]  # None clears it

    def cancel(self, group: str) -> None:
        """Cancels the jobs of a group, those that it would start next included."""
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

    def stop(self) -> None:
        """Ends the driver and its JVM's Spark."""
        with _if_it_is_there():
            self.spark.stop()


@contextmanager
def _if_it_is_there() -> Iterator[None]:
    """A driver that is lost has nothing to cancel or stop; the results say that it is lost."""
    try:
        yield
    except Exception as error:
        if not from_engine(error):
            raise


def start_driver(
    profile: Profile, root: Path, log: Path, env: Mapping[str, str], notify: Callable[[str], None] = lambda _: None
) -> Driver:
    """Starts Spark, or connects to a Spark Connect server, as the profile says.

    What the JVM prints goes to the file `log`; `notify` is told what takes time or has no effect. Raises ProblemsError:
    no Java, jars not to be had, Spark did not start; over Spark Connect what `connect` raises.
    """
    if profile.remote is not None:
        from merge_runner.engine.connect import connect

        return connect(profile, profile.remote, notify)
    os.environ["JAVA_HOME"] = str(require_java(env))
    jars = fetch_jars(table_formats(profile), env, notify)
    confs = spark_confs(profile, root, jars)

    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    silence_error_log()
    with _jvm_output_to(log):
        try:
            builder = SparkSession.builder.config(conf=SparkConf(loadDefaults=True).setAll(list(confs.items())))
            spark = builder.getOrCreate()
        except Exception as error:  # Py4J and PySpark raise many kinds; to the user all mean the same
            raise ProblemsError([_not_started(profile, log, error)]) from error
    return ClassicDriver(spark)


def _not_started(profile: Profile, log: Path, error: Exception) -> Problem:
    tail = ""
    with suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        causes = [line for line in lines[-200:] if "Exception" in line or "Error" in line]
        tail = causes[-1].strip() if causes else ""
    return Problem(
        "spark-not-started",
        f"Spark did not start on {profile.master}: {tail or first_line(error)}",
        hint=f"the whole story is in {log}",
    )


@contextmanager
def _jvm_output_to(log: Path) -> Iterator[None]:
    """The JVM that starts inside inherits `log` as its standard output and error, for as long as it lives."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_suffix(".1.log"))
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        for descriptor in (*saved, handle):
            os.close(descriptor)
