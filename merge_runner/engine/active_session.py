"""Which session the JVM takes for the current one in a thread: Iceberg and Spark look there for confs and catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from merge_runner.engine.java_class import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMPANION = "org.apache.spark.sql.classic.SparkSession$"


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
    companion = getattr(java_class(session, _COMPANION), "MODULE$")  # no name that Python could write
    before = companion.getActiveSession()
    companion.setActiveSession(own)
    try:
        yield
    finally:
        if before.isDefined():
            companion.setActiveSession(before.get())
        else:
            companion.clearActiveSession()
