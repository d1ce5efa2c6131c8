"""One writer per embedded table, over all processes of the machine.

Delta's log store for local files checks for a version and then renames, which two processes can interleave: the later
one would overwrite the commit of the other. An advisory lock of the operating system (released when its process dies,
however it dies) keeps them apart.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.05


@contextmanager
def writing(
    warehouse: Path, name: str, waiting: Callable[[str], None], cancelled: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Holds the writer's lock of the embedded table `name` (dotted) while the block runs.

    `waiting` is told once, with the holder's process id, when another one has the lock. Raises InterruptedError when
    `cancelled` turns true meanwhile.
    """
    folder = warehouse / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        told = False
        while not _acquire(handle):
            if not told:
                holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
                waiting(f"{name} is being written by process {holder}: waiting for it")
                told = True
            if cancelled():
                raise InterruptedError(name)
            time.sleep(_POLL_SECONDS)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
