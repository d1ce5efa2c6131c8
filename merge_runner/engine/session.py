"""The Spark driver of one invocation, and a session of its own for each model that runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.engine.confs import spark_confs, table_formats
from merge_runner.engine.jars import fetch_jars
from merge_runner.engine.java import require_java
from merge_runner.errors import Problem, ProblemsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.project.profile import Profile

_LOG_LIMIT = 10 << 20


@dataclass(frozen=True)
class Driver:
    """A running Spark driver, or a connection to one over Spark Connect (`remote` is its address then).

    Spark Connect has no job groups, no scheduler pools and no status store: statements there cannot be cancelled one by
    one, share the server's default pool, and report no files scanned.
    """

    spark: SparkSession
    remote: str | None = None

    def session(self) -> SparkSession:
        """A session of its own: confs and temporary views are shared with nobody."""
        if self.remote is None:
            return self.spark.newSession()
        session: SparkSession = type(self.spark).builder.remote(self.remote).create()
        return session

    @contextmanager
    def job_group(self, group: str, description: str) -> Iterator[None]:
        """Statements of this thread inside the block belong to `group` (cancelled together, a FAIR pool of its own)."""
        if self.remote is not None:
            yield
            return
        context = self.spark.sparkContext
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
        if self.remote is None:
            # A MERGE is several jobs, so the group's later ones must not start either; PySpark has no name for this.
            self.spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(group)

    def tasks(self, group: str) -> tuple[int, int]:
        """Tasks done and known of a group's active stages. The second number grows while a statement runs."""
        if self.remote is not None:
            return 0, 0
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
        """Ends the driver; what it was running is lost."""
        self.spark.stop()


def start_driver(
    profile: Profile, root: Path, log: Path, env: Mapping[str, str], notify: Callable[[str], None] = lambda _: None
) -> Driver:
    """Starts Spark (or attaches to a Spark Connect server) as the profile says.

    What the JVM prints goes to the file `log`. Raises ProblemsError: no Java, jars not to be had, Spark did not start.
    """
    if profile.remote is not None:
        return _connect(profile, profile.remote)
    os.environ["JAVA_HOME"] = str(require_java(env))
    jars = fetch_jars(table_formats(profile), env, notify)
    confs = spark_confs(profile, root, jars)

    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    with _jvm_output_to(log):
        try:
            builder = SparkSession.builder.config(conf=SparkConf(loadDefaults=True).setAll(list(confs.items())))
            spark = builder.getOrCreate()
        except Exception as error:  # Py4J and PySpark raise many kinds; to the user all mean the same
            raise ProblemsError([_not_started(profile, log, error)]) from error
    return Driver(spark)


def _connect(profile: Profile, remote: str) -> Driver:
    if profile.warehouse is not None:
        raise ProblemsError(
            [
                Problem(
                    "connect-warehouse",
                    "the embedded warehouse does not work over Spark Connect: the server's catalog keeps the tables",
                    hint="leave `warehouse` out of this output of profiles.yml",
                )
            ]
        )
    try:
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        spark: Any = ConnectSession.builder.remote(remote).create()
    except Exception as error:
        raise ProblemsError(
            [
                Problem(
                    "spark-not-started",
                    f"no Spark Connect session at {profile.where}: {_first_line(error)}",
                    hint="is the server up, and is `pip install 'pyspark[connect]'` done?",
                )
            ]
        ) from error
    return Driver(spark, remote)


def _not_started(profile: Profile, log: Path, error: Exception) -> Problem:
    tail = ""
    with suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        causes = [line for line in lines[-200:] if "Exception" in line or "Error" in line]
        tail = causes[-1].strip() if causes else ""
    return Problem(
        "spark-not-started",
        f"Spark did not start on {profile.master}: {tail or _first_line(error)}",
        hint=f"the whole story is in {log}",
    )


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


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
