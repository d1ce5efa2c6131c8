"""Checks, while a classic driver runs, whether it can go on."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.jvm_util import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ANSWER_SECONDS = 5.0
_AUTHENTICATE = "A\n{}\n"
"""How Py4J (0.10.9.9) begins each connection: the one thing that is answered before a thread of our own is needed."""


class Pulse:
    """Checks a driver from a separate thread; the driver may stop at any time, and then no longer answers."""

    def __init__(self, spark: SparkSession, answers_within: float = _ANSWER_SECONDS) -> None:
        """`answers_within` is in seconds. Raises what Py4J raises where there is no JVM."""
        self._patience = answers_within
        context: Any = spark.sparkContext
        gateway = context._gateway
        self._parameters = getattr(gateway, "java_parameters", None) or gateway.gateway_parameters
        self._process = int(java_class(spark, "java.lang.ProcessHandle").current().pid())
        self._local = str(context.master).startswith("local")
        self._status = context._jsc.sc().statusTracker()

    def trouble(self) -> str | None:
        """Return what keeps the driver from going on, as text; None: nothing known. Raises what Py4J raises."""
        if not self._answers():
            return (
                f"Spark (process {self._process}) does not answer: it is stopped, or collects garbage. It may go on by "
                f"itself; `kill -9 {self._process}` ends it, and `merge-runner retry` goes on then"
            )
        if not self._local and len(self._status.getActiveJobIds()) and len(self._status.getExecutorInfos()) <= 1:
            return (
                "the cluster gives this run no executor: its statements wait for a worker that is up, and has the "
                "cores and the memory free that conf asks for (spark.executor.cores, spark.executor.memory)"
            )
        return None

    def _answers(self) -> bool:
        """Whether the JVM answers. Where no process listens there is nothing to wait for: the results report it."""
        try:
            where = (self._parameters.address, self._parameters.port)
            with socket.create_connection(where, timeout=self._patience) as connection:
                connection.sendall(_AUTHENTICATE.format(self._parameters.auth_token).encode())
                connection.recv(1)
        except TimeoutError:
            return False
        except OSError:
            return True
        return True
