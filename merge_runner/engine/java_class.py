"""Classes of the JVM of a classic session, by their full names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java_class(session: SparkSession, name: str) -> Any:
    """The class, to call its static methods. Raises what Py4J raises.

    `jvm.org.apache…` would ask the JVM at each dot, which looks through all its jars for a class `org`.
    """
    return getattr(session.sparkContext._jvm, name)
