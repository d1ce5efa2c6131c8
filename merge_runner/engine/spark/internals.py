"""What the lines of Spark have otherwise, of all that is no public interface and that we use.

Everything else that we ask of the JVM is the same on each line; tests/engine/spark/test_internals.py runs all of it on
the installed one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from merge_runner.formats.lines import Line, installed_line


@dataclass(frozen=True, slots=True)
class Internals:
    """The names of one line."""

    session: str
    """The class of a session in the JVM. Its companion object knows the active session of each thread."""
    context_module: str
    """The module of PySpark with `SparkContext`, by which it is seen whether one has been loaded."""
    submit_options: tuple[str, ...]
    """Options of spark-submit with which it reads spark-defaults.conf although it is given another file of confs."""
    condition: str
    """The method of PySpark's exceptions that gives the error condition."""
    cancels_future_jobs: bool
    """Whether a job group can be cancelled with the jobs that it would start next."""
    logs_queries: bool
    """Whether PySpark logs each statement that fails."""
    delta_snapshot_options: tuple[bool, ...]
    """What Delta takes last to give an old version of a table: whether it refuses one whose files may be gone."""
    reads_staged_tasks: bool
    """Whether Iceberg reads the tasks of a scan by themselves as its release 1.12 does; others have not been tried."""
    has_snapshot_confs: bool
    """Whether Iceberg writes the session's confs `spark.sql.iceberg.snapshot-property.*` into its snapshots."""

    def loaded_context(self) -> Any:
        """Return the class SparkContext where PySpark has been loaded in this process, else None."""
        module = sys.modules.get(self.context_module)
        return module.SparkContext if module is not None else None

    def cancel(self, context: Any, group: str) -> None:
        """Cancel the jobs of a group, and where Spark can those that it would start next; `context` is the JVM's."""
        if self.cancels_future_jobs:
            context.cancelJobGroupAndFutureJobs(group)
        else:
            context.cancelJobGroup(group)

    def silence_query_log(self) -> None:
        """Keep PySpark from logging each statement that fails as JSON with its stack."""
        if self.logs_queries:
            from pyspark.logger import PySparkLogger

            PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


_SINCE_4 = Internals(
    session="org.apache.spark.sql.classic.SparkSession",
    context_module="pyspark.core.context",
    submit_options=("--load-spark-defaults",),
    condition="getCondition",
    cancels_future_jobs=True,
    logs_queries=True,
    delta_snapshot_options=(False,),
    reads_staged_tasks=False,
    has_snapshot_confs=True,
)

_BY_LINE: Mapping[str, Internals] = MappingProxyType(
    {
        "3.5": Internals(
            session="org.apache.spark.sql.SparkSession",
            context_module="pyspark.context",
            submit_options=(),
            condition="getErrorClass",
            cancels_future_jobs=False,
            logs_queries=False,
            delta_snapshot_options=(),
            reads_staged_tasks=False,
            has_snapshot_confs=False,
        ),
        "4.0": _SINCE_4,
        "4.1": replace(_SINCE_4, reads_staged_tasks=True),
        "4.2": _SINCE_4,
        "4.3": _SINCE_4,
    }
)


def internals(line: Line | None = None) -> Internals:
    """Return what a line of Spark has, else the installed one."""
    return _BY_LINE[(line or installed_line()).spark]
