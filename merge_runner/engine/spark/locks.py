"""One writer per embedded table, over all processes of the machine; in object stores by leases (`storage/leases.py`).

Delta's log store for local files checks for a version and then renames, which two processes can interleave: the later
one would overwrite the commit of the other. An advisory lock of the operating system (released when its process dies,
however it dies) keeps them apart. Inside one JVM the log store does both under its own lock, so that writers of one
process may share the lock where they ask for it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark import file_lock
from merge_runner.engine.spark.storage.leases import lease
from merge_runner.location import Location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POLL_SECONDS = 0.05


@dataclass
class _Lock:
    handle: int
    holders: int


_shared: dict[Path, _Lock] = {}
"""The locks that this process holds for writers that share them."""
_guard = threading.Lock()


def writing(
    warehouse: Location,
    name: str,
    waiting: Callable[[str], None],
    cancelled: Callable[[], bool] = lambda: False,
    shared: bool = False,
    spark: SparkSession | None = None,
) -> AbstractContextManager[None]:
    """Hold the writer's lock of the embedded table `name` (dotted) while the block runs.

    With `shared`, other threads of this process that pass it may hold the lock concurrently. `waiting` is called once,
    with the holder's process id, when another process has the lock. `spark` reaches the object store of a warehouse.
    Entering raises InterruptedError when `cancelled` turns true meanwhile; what `lease` raises.
    """
    if isinstance(warehouse, Path):
        return _lock(warehouse, name, waiting, cancelled, shared)
    if spark is None:
        raise TypeError(warehouse)
    return lease(spark, warehouse, name, waiting, cancelled, shared)


@contextmanager
def _lock(
    warehouse: Path, name: str, waiting: Callable[[str], None], cancelled: Callable[[], bool], shared: bool
) -> Iterator[None]:
    folder = warehouse / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    path = (folder / f"{name}.lock").resolve()
    is_reported = False
    while (handle := _acquire(path, shared)) is None:
        if not is_reported:
            holder = path.read_text(encoding="ascii", errors="replace")[:32].strip() or "unknown"
            waiting(f"{name} is being written by process {holder}: waiting for it")
            is_reported = True
        if cancelled():
            raise InterruptedError(name)
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        _release(path, handle, shared)


def _acquire(path: Path, shared: bool) -> int | None:
    """A handle that holds the lock; None where another one has it."""
    with _guard:
        if shared and path in _shared:
            _shared[path].holders += 1
            return _shared[path].handle
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            # A second handle of this very process is refused as well: the lock belongs to the handle.
            file_lock.lock(handle)
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
        if shared:
            _shared[path] = _Lock(handle, 1)
        return handle


def _release(path: Path, handle: int, shared: bool) -> None:
    with _guard:
        if shared:
            lock = _shared[path]
            lock.holders -= 1
            if lock.holders:
                return
            del _shared[path]
        os.close(handle)
