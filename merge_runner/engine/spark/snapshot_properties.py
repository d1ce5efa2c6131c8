"""The properties of Iceberg's snapshots on a line where Iceberg does not take them from the session's confs.

There it takes them from a variable of the thread that commits, which is the one that runs the statement
(org.apache.iceberg.spark.CommitMetadata, read by SparkWrite, SparkPositionDeltaWrite and SparkTable; Iceberg 1.12.0 on
Spark 3.5). Its own method to set it takes a function; Py4J can set it by reflection without calling back into Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.jvm_util import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX = "spark.sql.iceberg.snapshot-property."
_COMMIT_METADATA = "org.apache.iceberg.spark.CommitMetadata"
_VARIABLE = "COMMIT_PROPERTIES"


@cache
def around_statements() -> Callable[[SparkSession], AbstractContextManager[object]]:
    """Return what each statement runs in, so that its commits carry what the session's confs say of snapshots.

    That is nothing on a line where Iceberg reads the confs itself. Inside, what Py4J raises is raised.
    """
    return nullcontext if internals().has_snapshot_confs else _with_variable


@contextmanager
def _with_variable(session: SparkSession) -> Iterator[object]:
    variable = _thread_variable(session)
    if variable is None:
        yield None
        return
    variable.set(_set_in(session))
    try:
        yield None
    finally:
        with suppress(Exception):  # the connection has gone, and the thread of the JVM with it
            variable.remove()


def _thread_variable(session: SparkSession) -> Any:
    """Iceberg's variable; None without a JVM here, and where Iceberg is not on its class path."""
    if not hasattr(session, "_jsparkSession"):
        return None
    from py4j.java_gateway import JavaClass

    commit_metadata = java_class(session, _COMMIT_METADATA)
    if not isinstance(commit_metadata, JavaClass):  # what Py4J finds no class for is a package to it
        return None
    field = commit_metadata._java_lang_class.getDeclaredField(_VARIABLE)
    field.setAccessible(True)
    return field.get(None)


def _set_in(session: SparkSession) -> Any:
    """A map of Java with the properties that the session's confs give to snapshots."""
    confs = session._jsparkSession.sessionState().conf().settings()  # a map of Java: PySpark 3.5 cannot list confs
    keys = str(java_class(session, "java.lang.String").join("\n", confs.keySet())).split("\n")
    properties = java_class(session, "java.util.HashMap")()
    for key in keys:
        if key.startswith(PREFIX):
            properties.put(key[len(PREFIX) :], confs.get(key))
    return properties
