"""Classes of the JVM of a classic session, by their full names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.internals import internals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java_class(session: SparkSession, name: str) -> Any:
    """The class, to call its static methods. Raises what Py4J raises.

    `jvm.org.apache…` would ask the JVM at each dot, which looks through all its jars for a class `org`.
    """
    return getattr(session.sparkContext._jvm, name)


def plain_value(value: Any) -> Any:
    """The value with structs as mappings, at every depth."""
    if hasattr(value, "asDict"):
        return {name: plain_value(item) for name, item in value.asDict().items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {plain_value(name): plain_value(item) for name, item in value.items()}
    return value


@contextmanager
def active_session(session: SparkSession) -> Iterator[None]:
    """Makes a session the current one of this thread inside the block, as `session.sql` does for itself.

    A thread has none by itself: what the JVM is asked directly would see no conf of the profile. Does nothing for a
    session without a JVM here. Raises what Py4J raises.
    """
    own = getattr(session, "_jsparkSession", None)
    if own is None:
        yield
        return
    companion = getattr(java_class(session, f"{internals().session}$"), "MODULE$")  # no name that Python could write
    before = companion.getActiveSession()
    companion.setActiveSession(own)
    try:
        yield
    finally:
        if before.isDefined():
            companion.setActiveSession(before.get())
        else:
            companion.clearActiveSession()
