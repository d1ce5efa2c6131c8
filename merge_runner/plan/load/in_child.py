"""Makes a value in a process that ends afterwards, so that the memory which that takes is free again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_Made = TypeVar("_Made")


def made_in_child(make: Callable[[], _Made]) -> _Made | None:
    """Return what `make` returns, called in a fork of this process; None where that is not possible.

    That is on another system than Linux, with several threads, where `make` raises an error, and where its value
    cannot be pickled: the caller makes it then.
    """
    import threading

    if not sys.platform.startswith("linux") or threading.active_count() > 1:
        return None
    from multiprocessing import get_context

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(make, receiver, sender), daemon=True)
    process.start()
    sender.close()
    try:
        found: _Made | None = receiver.recv()
    except EOFError:
        found = None
    finally:
        receiver.close()
        process.kill()
        process.join()
    return found


def _send(make: Callable[[], object], receiver: Connection, sender: Connection) -> None:
    """What the process does."""
    import signal

    receiver.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches both: the first process reports it
    with suppress(Exception):
        sender.send(make())
