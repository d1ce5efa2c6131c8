"""Forks of this process that serve: to use another core, or to have back the memory that they take."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")

_WORTH = 150
"""From so many models on a second process is sooner done than the first one alone; each further one has as many."""


def can_fork() -> bool:
    """Return whether a fork is safe: on Linux, where no other thread could hold a lock just then."""
    return sys.platform.startswith("linux") and threading.active_count() == 1


def processes_for(models: int) -> int:
    """Return how many processes pay for work on so many models, each a fork but for this one."""
    if models < _WORTH or not can_fork():
        return 1
    return min(len(os.sched_getaffinity(0)), -(-models // _WORTH) + 1)


class Fork(NamedTuple):
    """A fork of this process that serves, and the end of the connection that this process has."""

    process: ForkProcess
    connection: Connection

    def end(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.kill()
        self.process.join()


def serving_fork(serve: Callable[[Connection], None]) -> Fork | None:
    """Return a fork of this process that calls `serve` with the other end of its connection; None where none is safe.

    It has nothing of this process's standard input and output. `serve` returns, or ends the process, at the end of the
    connection: that is where this process has ended.
    """
    if not can_fork():
        return None

    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(serve, ours, theirs), daemon=True)
    process.start()
    theirs.close()
    return Fork(process, ours)


def _serve(serve: Callable[[Connection], None], ours: Connection, theirs: Connection) -> None:
    """What a process that serves does; multiprocessing has closed its standard input."""
    _begin(ours)
    os.dup2(2, 1)  # what waits for the end of our output is not to wait for this process
    serve(theirs)


def _begin(of_parent: Connection) -> None:
    """Leave the end of the connection that is the first process's, and take up what differs in a fork."""
    of_parent.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches both: the first process reports it
    gc.freeze()  # a collection would touch, and so copy, every page that was inherited
