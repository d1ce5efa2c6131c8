"""How the JVM of a driver has ended, in words: by its exit status, and by what its log says."""

from __future__ import annotations

import re
import signal

_OUT_OF_MEMORY = 52
"""Spark's exit status where a task met an OutOfMemoryError (SparkExitCode.OOM, Spark 4.1), of a local driver too."""
_NO_MEMORY = re.compile(r"java\.lang\.OutOfMemoryError: ([^\r\n]+)")


def how_it_ended(status: int | None, log: str) -> str:
    """What to say of a JVM that ended with this status and has logged this text.

    A negative status is a signal's; None: it is not known.
    """
    said = _NO_MEMORY.findall(log)
    if status == _OUT_OF_MEMORY:
        return f"its JVM ran out of memory: {said[-1] if said else 'Java heap space'} (exit status {status})"
    if status is not None and status < 0:
        name = signal.Signals(-status).name if -status in {*signal.Signals} else f"signal {-status}"
        by = "by a person, or by the system, where the machine's memory ran out"
        return f"its JVM was killed ({name})" + (f": {by}" if -status == signal.SIGKILL else "")
    logged = f"; its log has `OutOfMemoryError: {said[-1]}`" if said else ""
    return ("its JVM has ended" if status is None else f"its JVM ended with exit status {status}") + logged
