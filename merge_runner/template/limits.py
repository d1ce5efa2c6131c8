"""How much one rendering may do before it counts as endless."""

from __future__ import annotations

import faulthandler
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

MAX_CHARACTERS = 10_000_000
"""Of the rendered text, and of any value on the way to it."""
MAX_STEPS = 1_000_000
"""Loop iterations and macro calls."""
MAX_SECONDS = 20.0
MAX_SECONDS_OF_A_CALL = 1.5 * MAX_SECONDS
"""After which a call of Python's own code is interrupted, where Python looks at signals: in the first thread."""
MAX_SECONDS_OF_THE_PROCESS = 2 * MAX_SECONDS
"""After which the process ends, where nothing else has ended a call."""
MAX_DEPTH = 80
"""Macros inside macros. Each takes about ten frames of Python's stack."""
MAX_BUILT = 100_000_000
"""Of all texts and lists together that one rendering reads and builds on its way."""


class LimitError(Exception):
    """A rendering went over a limit; the message says which."""


_WATCHED = threading.Lock()
_running = 0


@contextmanager
def watched() -> Iterator[None]:
    """Raise LimitError if a rendering inside does not end and does not ask its limits; else end the process.

    The limits are asked between the operations of a template. A signal interrupts what one of them does in Python, or
    in C that looks at signals, such as a division or a pattern. Any other C keeps all threads of Python waiting, so
    that only faulthandler's own thread, which needs no Python, is left: the process ends with the place where it was.
    """
    _watch(1)
    try:
        with _alarm():
            yield
    finally:
        _watch(-1)


@contextmanager
def _alarm() -> Iterator[None]:
    """Have a signal interrupt what runs too long inside, unless this thread gets none or another one waits.

    Windows has no such signal: the limit of the process is left.
    """
    has_alarm = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
    if not has_alarm or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, MAX_SECONDS_OF_A_CALL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise LimitError(f"one operation takes more than {MAX_SECONDS_OF_A_CALL:.0f} seconds")


def _watch(change: int) -> None:
    global _running  # noqa: PLW0603 - there is one timer for all threads of the process
    with _WATCHED:
        _running += change
        if _running:
            faulthandler.dump_traceback_later(MAX_SECONDS_OF_THE_PROCESS, exit=True, file=2)
        else:
            faulthandler.cancel_dump_traceback_later()


class Limits:
    """Counts what one rendering does. The clock only stops a rendering; no text depends on it."""

    def __init__(self) -> None:
        self._steps = 0
        self._built_size = 0
        self._deadline = time.monotonic() + MAX_SECONDS

    def step(self) -> None:
        """Counts a loop iteration or a macro call; raises LimitError."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise LimitError(f"rendering takes more than {MAX_STEPS:,} steps; is there an endless loop?")
        if time.monotonic() > self._deadline:
            raise LimitError(f"rendering takes more than {MAX_SECONDS:.0f} seconds; is there an endless loop?")

    def waited(self, seconds: float) -> None:
        """Leave out the time that a statement of an operation took: it is the engine's."""
        self._deadline += seconds

    def build(self, size: int) -> None:
        """Counts the characters or items of a value that is about to be built; raises LimitError."""
        check_size(size)
        self.work(size)

    def work(self, size: int) -> None:
        """Counts what is read of a value to make another one; raises LimitError."""
        if time.monotonic() > self._deadline:
            raise LimitError(f"rendering takes more than {MAX_SECONDS:.0f} seconds; is there an endless loop?")
        self._built_size += size
        if self._built_size > MAX_BUILT:
            raise LimitError(f"rendering builds texts and lists of more than {MAX_BUILT:,} characters or items in all")


def check_size(characters: int) -> None:
    """Raises LimitError for a text or list longer than a rendering may build."""
    if characters > MAX_CHARACTERS:
        raise LimitError(f"rendering builds a text or list of more than {MAX_CHARACTERS:,} characters or items")
