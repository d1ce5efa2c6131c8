"""A Spark driver in a JVM that another process keeps: the warm driver of the project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from merge_runner.engine.driver.local_driver import ClassicDriver, forget_gateway, release
from merge_runner.engine.spark.errors import silence_error_log
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.jvm import gateway
from merge_runner.engine.spark.nested_assignments import assign_columns_before_delta

_CONTEXT = "org.apache.spark.SparkContext"
_DELTA_LOG = "org.apache.spark.sql.delta.DeltaLog"


@dataclass(frozen=True)
class AttachedDriver(ClassicDriver):
    """A driver of this invocation in a JVM that goes on afterwards."""

    leave: Callable[[bool], None] = lambda _clean: None
    """Called at the end with whether nothing of this invocation still runs there."""

    def stop(self) -> None:
        """Leaves the JVM. Where a statement of ours may still run, the JVM is not left to anybody else."""
        clean = not self.running
        if clean:
            try:
                self._clear()
            except Exception:  # whatever it is, such a JVM must not be used again
                clean = False
        release(self.spark)
        self.leave(clean)

    def kill(self) -> None:
        """Leave the JVM to its end: it must not be used again."""
        self.leave(False)

    def _clear(self) -> None:
        """What this invocation has put into the JVM is taken out again."""
        shared = self.spark._jsparkSession.sharedState()
        shared.cacheManager().clearCache()
        listener = shared.statusStore().listener()
        if listener.isDefined():
            self.spark.sparkContext._jsc.sc().removeSparkListener(listener.get())


def attach_driver(
    port: int, secret: str, leave: Callable[[bool], None], fate: Callable[[], str | None] = lambda: None
) -> AttachedDriver:
    """A driver in the JVM at the port, which runs Spark. It knows no table, view or cached log of an earlier one.

    `fate` says how the JVM has ended. Raises whatever PySpark and Py4J raise.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    silence_error_log()
    connected = gateway(port, secret)
    try:
        jvm = connected.jvm
        java_context = jvm.JavaSparkContext.fromSparkContext(getattr(jvm, _CONTEXT).getOrCreate())
        context = SparkContext(gateway=connected, jsc=java_context, conf=SparkConf(_jconf=java_context.getConf()))
        getattr(jvm, _DELTA_LOG).clearCache()
        spark = SparkSession(context, jsparkSession=_fresh_session(jvm, java_context.sc()))
        assign_columns_before_delta(spark)
    except BaseException:
        connected.close()
        forget_gateway()
        raise
    return AttachedDriver(spark, leave=leave, fate=fate)


def _fresh_session(jvm: Any, context: Any) -> Any:
    """A session that shares nothing with those of earlier invocations.

    A catalog in memory belongs to the state that sessions share, so the session gets a new one: that forgets every
    table and view, and no file is touched as DROP TABLE might. Another catalog holds its tables by itself.
    """
    session_class = getattr(jvm, internals().session)
    if context.conf().get("spark.sql.catalogImplementation", "in-memory") == "in-memory":
        return session_class(context, {})
    return session_class.getDefaultSession().get().newSession()
