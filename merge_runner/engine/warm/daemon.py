"""Keeps a warm driver: the module of a process of its own, with an Order as JSON on its standard input.

It ends, with its JVM, on request, after its idle time, when the JVM ends, when its socket is removed, and when an
invocation that used the JVM was killed: the state of the JVM is unknown then.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from merge_runner.engine.driver.local_driver import ClassicDriver, open_driver
from merge_runner.engine.spark import file_lock
from merge_runner.engine.spark.appcds import writes_archive
from merge_runner.engine.spark.jvm import Jvm, launch
from merge_runner.engine.warm.client import ANOTHER, Order, peer

_POLL_SECONDS = 0.2
_HEAP_SHARE = 0.6
"""A JVM whose memory is filled to this part after an invocation has seen enough of them."""


class _Keeper:
    def __init__(
        self,
        order: Order,
        listening: socket.socket,
        start: Callable[[Mapping[str, str], Path, Path, Path], Jvm] = launch,
        open_driver: Callable[[Mapping[str, str], Jvm], ClassicDriver] = open_driver,
    ) -> None:
        self._start, self._open_driver = start, open_driver
        self.order = order
        self.listening = listening
        self.inode = Path(order.socket).stat().st_ino
        self.ending = threading.Event()
        self.ready = threading.Event()
        self.guard = threading.Lock()
        self.user: int | None = None
        self.attached = False
        self.killed = False
        self.used = time.monotonic()
        self.jvm: Jvm | None = None
        self.driver: ClassicDriver | None = None
        self.connections: list[socket.socket] = []

    def run(self) -> None:
        """Keeps the driver until it is time to end."""
        threading.Thread(target=self._accept, daemon=True).start()
        order = self.order
        try:
            self.jvm = self._start(order.confs, Path(order.java_home), Path(order.root), Path(order.log))
            self.driver = self._open_driver(order.confs, self.jvm)
            self.used = time.monotonic()
            self.ready.set()
            while not self.ending.wait(_POLL_SECONDS) and not self._over():
                pass
        finally:
            with self.guard:
                self.ending.set()
            with suppress(OSError):
                Path(order.socket).unlink()
            with suppress(OSError):  # a thread that waits for a connection goes on waiting where it is closed alone
                self.listening.shutdown(socket.SHUT_RDWR)
            self.listening.close()
            if self.jvm is not None:
                # Where nothing runs any longer, no command waits until it has written its archive.
                at_rest = self.ready.is_set() and not self.attached
                wait = not (at_rest and writes_archive(order.confs))
                self.jvm.kill() if self.killed else self.jvm.end(wait=wait)

    def _over(self) -> bool:
        assert self.jvm is not None
        if self.jvm.process.poll() is not None:
            return True
        try:
            if Path(self.order.socket).stat().st_ino != self.inode:
                return True
        except OSError:  # it was removed: no client can find us any longer
            return True
        with self.guard:
            return not self.attached and time.monotonic() - self.used > self.order.idle

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:  # it was closed: we end
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        pid, uid = peer(connection)
        if uid is not None and uid != os.getuid():
            connection.close()
            return
        self.connections.append(connection)  # kept open, so that the client sees our end
        mine = False
        file = connection.makefile("rw", encoding="utf-8")
        with suppress(OSError, ValueError):
            for line in file:
                request = json.loads(line)
                answer = self._answer(request, pid, mine)
                mine = "port" in answer or (mine and request["do"] != "detach")
                file.write(json.dumps(answer) + "\n")
                file.flush()
                if request["do"] == "stop":
                    self.ending.set()
                    return
        if mine:
            self.killed = True
            self.ending.set()
        self.connections.remove(connection)
        connection.close()

    def _answer(self, request: dict[str, Any], pid: int | None, mine: bool) -> dict[str, Any]:
        if request["do"] == "attach":
            return self._attach(request["key"], pid)
        if request["do"] == "detach" and mine:
            self._detach()
            return {}
        with self.guard:
            return {
                "pid": os.getpid(),
                "jvm": self.jvm.process.pid if self.jvm is not None else None,
                "key": self.order.key,
                "ready": self.ready.is_set(),
                "user": (pid if self.user is None else self.user) if self.attached else None,
                "idle": 0.0 if self.attached else time.monotonic() - self.used,
                "limit": self.order.idle,
            }

    def _attach(self, key: str, pid: int | None) -> dict[str, Any]:
        if key != self.order.key:
            return {"refused": "busy" if self.attached else "other"}
        with self.guard:
            if self.attached or self.ending.is_set() or not self.ready.is_set():
                return {"refused": "busy"}
            self.attached, self.user = True, pid
        assert self.jvm is not None
        port, secret = self.jvm.address
        return {"port": port, "secret": secret}

    def _detach(self) -> None:
        full = self._full()
        with self.guard:
            self.attached, self.user, self.used = False, None, time.monotonic()
            if full:
                self.ending.set()

    def _full(self) -> bool:
        assert self.driver is not None
        try:
            java: Any = self.driver.spark.sparkContext._jvm
            runtime = java.java.lang.Runtime.getRuntime()
            if (runtime.totalMemory() - runtime.freeMemory()) / runtime.maxMemory() < _HEAP_SHARE:
                return False
            java.java.lang.System.gc()
            return bool((runtime.totalMemory() - runtime.freeMemory()) / runtime.maxMemory() > _HEAP_SHARE)
        except Exception:  # it does not answer: that is the end of it
            return True


@contextmanager
def _listening(path: Path) -> Iterator[socket.socket | None]:
    """The socket of the project's only keeper; None where there is one already."""
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        file_lock.lock(lock)
    except BlockingIOError:
        os.close(lock)
        yield None
        return
    try:
        path.unlink(missing_ok=True)  # of a keeper that was killed
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o077)
        try:
            listening.bind(str(path))
        finally:
            os.umask(before)  # the JVM writes tables, which other users may read
        listening.listen()
        yield listening
    finally:
        os.close(lock)


def main() -> int:
    """Keeps what the order on standard input says; status ANOTHER where another keeper is there already."""
    order = Order(**json.load(sys.stdin))
    with _listening(Path(order.socket)) as listening:
        if listening is None:
            return ANOTHER
        _Keeper(order, listening).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
