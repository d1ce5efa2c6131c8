"""Waits, when the connection to a JVM breaks, until the JVM has ended the command that it still runs.

Py4J (0.10.9.9) sends a command once more where the connection broke before the answer came, so that a MERGE would run
twice. Here the error is raised instead, and only after the JVM has ended the command: what is set for a statement
(confs of its session, a staged source) is taken back after it, and the table's log then shows what was committed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.jvm_util import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POLL_SECONDS = 0.2
_here = threading.local()


def knows_its_end(session: SparkSession, begin: Callable[[], None]) -> None:
    """Wait, from here on, for the commands that this thread sends to the JVM where the connection breaks.

    `begin` is called then: each connection has a thread of the JVM to itself, which ends after the command that it was
    sent, and the next one has none of the local properties of Spark that the last one had.
    """
    _here.thread, _here.begin = java_class(session, "java.lang.Thread").currentThread(), begin


def forget() -> None:
    """Wait no longer for the commands that this thread sends to the JVM from here on."""
    _here.thread = _here.begin = None


def send_once(gateway: Any) -> None:
    """Has a gateway send each command once."""
    gateway._gateway_client._should_retry = _after_a_break


def _after_a_break(*_: Any) -> bool:
    """Waits for the JVM; whether Py4J is to send the command again: never."""
    thread, _here.thread = getattr(_here, "thread", None), None
    if thread is not None:
        with suppress(Exception):  # it has gone, which the command's own error reports
            while thread.isAlive():
                time.sleep(_POLL_SECONDS)
            _here.begin()
    return False
