"""One writer per table of an object store, over machines: a lease on a lock object.

The lock of a table is the folder `.locks/<table>` of the warehouse. Its files have numbers, and the holder is who made
the highest one: the store lets one of several writers make a file (`files.create`). The holder writes its file again
and again; where that has not happened for the length of a lease, by the clock of who waits, the next number may be
made. A holder that was slow may then be writing still. It loses no commit and overwrites none: each commit of a table
is itself a file that only one writer can make. The lease only keeps writers from doing work that would conflict.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError, from_engine
from merge_runner.engine.spark.storage import files
from merge_runner.location import Uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEASE = 60.0
"""Seconds after which a lock that its holder has not renewed may be taken over."""
_RENEWALS = 4
"""How often a lock is renewed within the length of a lease."""
_POLL_SECONDS = 0.25
_LONGEST_POLL_SECONDS = 2.0
_KEPT = 8
"""Numbers that are left in the folder, so that most holders remove none."""

_checked: set[str] = set()
"""The warehouses whose store was seen to refuse a file that exists."""
_held: dict[tuple[str, str], _Lease] = {}
"""The leases that writers of this process share."""
_guard = threading.Lock()


@dataclass
class _Lease:
    """A lock that this process holds, as its file says it. `holders` are the threads that share it."""

    session: SparkSession
    folder: Uri
    number: int
    owner: str
    beat: int = 0
    holders: int = 1
    ended_event: threading.Event = field(default_factory=threading.Event)
    writing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def file(self) -> Uri:
        """The file with its number."""
        return _file(self.folder, self.number)

    def text(self, *, is_held: bool = True) -> str:
        """What the file says; no other text is the same."""
        names = {"owner": self.owner, "host": socket.gethostname(), "process": os.getpid()}
        return json.dumps({**names, "beat": self.beat, "held": is_held})

    def renew(self, seconds: float) -> None:
        """Write the file until the lease has ended, or another process has taken it over."""
        while not self.ended_event.wait(seconds / _RENEWALS):
            with self.writing, _while_the_store_answers():
                if self.ended_event.is_set() or _numbers(self.session, self.folder)[-1:] != [self.number]:
                    return
                self.beat += 1
                files.write_text(self.session, self.file, self.text())

    def end(self) -> None:
        """Say that the lock is free; where the store does not answer, the lease runs out."""
        self.ended_event.set()
        with self.writing, _while_the_store_answers():
            self.beat += 1
            files.write_text(self.session, self.file, self.text(is_held=False))


@contextmanager
def lease(
    session: SparkSession,
    warehouse: Uri,
    name: str,
    waiting: Callable[[str], None],
    cancelled: Callable[[], bool] = lambda: False,
    shared: bool = False,
    seconds: float = LEASE,
) -> Iterator[None]:
    """Hold the lock of the table `name` while the block runs.

    With `shared`, other threads of this process that pass it may hold it concurrently. `waiting` is called once where
    another writer has it. Raises InterruptedError when `cancelled` turns true meanwhile, EngineError
    `no-put-if-absent` where the store overwrites what exists, and what the store raises.
    """
    key = (str(warehouse), name)
    attempt = _Attempt(session, warehouse / ".locks" / name, seconds)
    is_reported, pause = False, _POLL_SECONDS
    while (lease_held := (_join(key) if shared else None) or attempt.make()) is None:
        if not is_reported:
            waiting(f"{name} is being written by {attempt.holder}: waiting for it")
            is_reported = True
        if cancelled():
            raise InterruptedError(name)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_POLL_SECONDS)
    if lease_held.owner == attempt.owner:
        _check(lease_held, warehouse)
        threading.Thread(target=lease_held.renew, args=(seconds,), name="lease", daemon=True).start()
        if shared:
            with _guard:
                _held[key] = lease_held
    try:
        yield
    finally:
        with _guard:
            lease_held.holders -= 1
            last = lease_held.holders == 0
            if last and _held.get(key) is lease_held:
                del _held[key]
        if last:
            lease_held.end()


def _join(key: tuple[str, str]) -> _Lease | None:
    with _guard:
        if key in _held:
            _held[key].holders += 1
        return _held.get(key)


class _Attempt:
    """Attempts to get one lock. `holder` is who has it, as text."""

    def __init__(self, session: SparkSession, folder: Uri, seconds: float) -> None:
        self.owner = uuid.uuid4().hex
        self.holder: str | None = None
        self._session = session
        self._folder = folder
        self._seconds = seconds
        self._seen: tuple[int, str | None] | None = None
        self._since = 0.0

    def make(self) -> _Lease | None:
        """Return the lease; None where another writer has it. Raises EngineError."""
        last = next(reversed(_numbers(self._session, self._folder)), 0)
        text = files.read_text(self._session, _file(self._folder, last)) if last else None
        if (last, text) != self._seen:
            self._seen, self._since = (last, text), time.monotonic()
        self.holder = _holder(text)
        if self.holder is not None and time.monotonic() - self._since <= self._seconds and not _has_died(text):
            return None
        mine = _Lease(self._session, self._folder, last + 1, self.owner)
        if not files.create(self._session, mine.file, mine.text()):
            self.holder = self.holder or "another process"
            return None
        numbers = _numbers(self._session, self._folder)
        if numbers[-1] != mine.number:
            # What was the highest number is not any more, and its file was removed before this one was made.
            files.delete(self._session, mine.file)
            self.holder = self.holder or "another process"
            return None
        for number in numbers[:-_KEPT]:
            files.delete(self._session, _file(self._folder, number))
        return mine


def _file(folder: Uri, number: int) -> Uri:
    return folder / f"{number:020d}"


def _numbers(session: SparkSession, folder: Uri) -> list[int]:
    """The numbers of a lock in ascending order."""
    return sorted(int(name) for name in files.names(session, folder) if name.isdecimal())


def _holder(text: str | None) -> str | None:
    """Who holds a lock whose file has this text; None: no process."""
    if text is None:
        return None
    try:
        entry = json.loads(text)
        return f"process {entry['process']} on {entry['host']}" if entry["held"] else None
    except (ValueError, KeyError, TypeError):
        return "an unknown process"


def _has_died(text: str | None) -> bool:
    """Whether the holder was a process of this machine that has ended, so that there is nothing to wait for."""
    try:
        entry = json.loads(text or "")
        if entry["host"] != socket.gethostname():
            return False
        os.kill(int(entry["process"]), 0)
    except ProcessLookupError:
        return True
    except (ValueError, KeyError, TypeError, OSError):
        pass
    return False


def _check(mine: _Lease, warehouse: Uri) -> None:
    """Make sure, once in a process, that the store refuses to make a file that exists: all else rests on it."""
    if str(warehouse) in _checked:
        return
    if files.create(mine.session, mine.file, uuid.uuid4().hex):
        files.delete(mine.session, mine.file)
        raise no_put_if_absent(warehouse)
    _checked.add(str(warehouse))


def no_put_if_absent(warehouse: Uri) -> EngineError:
    """Return the error of a store that overwrites a file where it was to be made if absent."""
    return EngineError(
        "no-put-if-absent",
        f"the object store of {warehouse} ignores If-None-Match: of two writers, one would overwrite the commit of the "
        "other",
        hint="keep the tables in a store that has conditional writes, or in a catalog that decides commits",
    )


@contextmanager
def _while_the_store_answers() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not from_engine(error):
            raise
