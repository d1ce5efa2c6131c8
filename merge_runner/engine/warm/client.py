"""The warm driver of a project: a JVM with a running Spark that stays, for the next invocation to use.

A keeper (`daemon.py`) holds the JVM and listens at a socket in a folder that only its owner can enter; there it
hands port and secret of the gateway to one invocation at a time. The invocation stays connected: when it is killed, the
keeper ends the JVM with whatever ran there, as it would have ended with the invocation.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from merge_runner.atomic import open_to_append
from merge_runner.engine.spark.file_lock import check_system
from merge_runner.engine.spark.jvm import hidden, how_it_ended, log_text
from merge_runner.engine.spark.spark_home import spark_home
from merge_runner.python_process import python_command
from merge_runner.version import version

if TYPE_CHECKING:
    from merge_runner.engine.driver.driver import Driver

    AttachDriver = Callable[[int, str, Callable[[bool], None], Callable[[], str | None]], Driver]

SWITCH = "MERGE_RUNNER_WARM"
IDLE_MINUTES = 30.0
ANOTHER = 3
"""What a keeper ends with where the project has one already."""
_START_SECONDS = 300.0
_STOP_SECONDS = 20.0
_POLL_SECONDS = 0.05
_READ_BY_A_JVM = ("AWS_", "AZURE_", "GOOGLE_", "HADOOP_", "JAVA_", "JDK_", "KRB5", "LANG", "LC_", "SPARK_", "TZ")
"""Beginnings of environment variables that a JVM, Spark or a file system reads."""
_SET_BY_PYSPARK = ("SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE")


class Refused(Exception):  # noqa: N818  # an answer, and no fault
    """The keeper does not give its JVM away: `busy` (another run has it) or `other` (it was started otherwise)."""


class Gone(Exception):  # noqa: N818
    """There is no keeper, or it has ended."""


@dataclass(frozen=True)
class Order:
    """What a keeper is to keep: a driver with these confs. `key` says whether it is the one that a run needs."""

    confs: Mapping[str, str]
    java_home: str
    root: str
    log: str
    key: str
    socket: str
    idle: float = IDLE_MINUTES * 60


class Line:
    """A connection to a keeper. Closing it while attached ends the JVM."""

    def __init__(self, path: Path) -> None:
        """Raises Gone where no process listens."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise Gone(str(path)) from error
        self._file: IO[str] = self._socket.makefile("rw", encoding="utf-8")

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        """The keeper's answer. Raises Gone where it has none, and Refused."""
        try:
            self._file.write(json.dumps({"do": what, **more}) + "\n")
            self._file.flush()
            line = self._file.readline()
        except OSError as error:
            raise Gone(what) from error
        if not line:
            raise Gone(what)
        answer: dict[str, Any] = json.loads(line)
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer

    def wait_for_its_end(self, seconds: float) -> bool:
        """Whether the keeper has closed the connection, which it does when it has ended."""
        self._socket.settimeout(seconds)
        with suppress(OSError):
            return self._file.readline() == ""
        return False

    def close(self) -> None:
        """Hangs up."""
        with suppress(OSError):
            self._file.close()
        self._socket.close()


def wanted(env: Mapping[str, str]) -> bool:
    """Whether a warm driver may be used: not in CI unless MERGE_RUNNER_WARM=1, and not with MERGE_RUNNER_WARM=0."""
    return env.get(SWITCH) == "1" if env.get("CI") else env.get(SWITCH) != "0"


def socket_path(root: Path, env: Mapping[str, str]) -> Path:
    """Where the keeper of a project listens: in a folder of the user's own, whose name must be short for a socket.

    Raises PermissionError where the folder is not the user's alone; what `check_system` raises.
    """
    check_system()
    runtime = env.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) / "merge-runner" if runtime else Path(tempfile.gettempdir()) / f"merge-runner-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise PermissionError(f"{folder} must be a folder that only you can access")
    return folder / f"{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:16]}.sock"


def driver_key(confs: Mapping[str, str], java_home: Path, env: Mapping[str, str]) -> str:
    """The key of a driver: its versions, JVM, confs, jars, and what a JVM reads of the environment."""
    parts = [version(), str(java_home.resolve()), str(spark_home())]
    parts += [f"{name}={value}" for name, value in sorted(confs.items())]
    names = [name for name in env if name.startswith(_READ_BY_A_JVM) and name not in _SET_BY_PYSPARK]
    parts += [f"{name}={env[name]}" for name in sorted(names)]
    parts += sorted(hidden(confs, env))  # its log keeps silent about these, and no others
    jars = confs.get("spark.driver.extraClassPath", "").split(os.pathsep) + confs.get("spark.jars", "").split(",")
    for path in [java_home / "release", spark_home() / "jars", *(Path(jar) for jar in jars if jar)]:
        with suppress(OSError):
            state = path.stat()
            parts.append(f"{path} {state.st_size} {state.st_mtime_ns}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def status(path: Path) -> dict[str, Any] | None:
    """What the keeper at the socket says of itself (pid, jvm, ready, user, idle, limit); None where there is none."""
    try:
        line = Line(path)
    except Gone:
        return None
    try:
        return line.ask("status")
    except Gone:
        return None
    finally:
        line.close()


def spawn_keeper(order: Order) -> subprocess.Popen[bytes]:
    """Starts the process of a keeper, and does not wait for its driver. Raises OSError."""
    log = Path(order.log)
    with open_to_append(log, below=log.parent.parent) as output:
        keeper = subprocess.Popen(
            python_command("merge_runner.engine.warm.daemon"),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=order.root,
            start_new_session=True,
        )
    assert keeper.stdin is not None
    with suppress(BrokenPipeError):  # it ends immediately where another one runs already
        keeper.stdin.write(json.dumps({**vars(order), "confs": dict(order.confs)}).encode())
        keeper.stdin.close()
    return keeper


def start(
    order: Order,
    spawn: Callable[[Order], subprocess.Popen[bytes]] = spawn_keeper,
    needed: Callable[[], bool] = lambda: True,
) -> None:
    """Starts a keeper and waits until its driver is up; nothing where one with the same key is there.

    One with another key is ended first. Raises Refused (`busy`) where that one is in use, ChildProcessError where
    the driver does not start, and InterruptedError once it is no longer `needed`, which ends the wait and not the
    keeper. `spawn` starts the process of a keeper.
    """
    path = Path(order.socket)
    state = status(path)
    if state is not None and state["key"] != order.key:
        if state["user"] is not None:
            raise Refused("busy")
        stop(path)
        state = None
    keeper = None if state is not None else spawn(order)
    deadline = time.monotonic() + _START_SECONDS
    while state is None or not state["ready"]:
        if keeper is not None and keeper.poll() not in (None, ANOTHER) and status(path) is None:
            raise ChildProcessError(f"the warm driver did not start: its log is {order.log}")
        if time.monotonic() > deadline:
            raise ChildProcessError(f"the warm driver is not up after {_START_SECONDS:.0f} s: its log is {order.log}")
        if not needed():
            raise InterruptedError("the driver is no longer needed")
        time.sleep(_POLL_SECONDS)
        state = status(path)


def attach(path: Path, key: str, log: Path, attach_driver: AttachDriver) -> Driver:
    """A driver in the JVM of the keeper at the socket, which logs to the file `log`.

    Raises Gone, Refused, and what `attach_driver` raises.
    """
    start = log.stat().st_size if log.exists() else 0
    line = Line(path)
    try:
        attached = line.ask("attach", key=key)

        def leave(clean: bool) -> None:
            if clean:
                with suppress(Gone):
                    line.ask("detach")
            line.close()

        def fate() -> str | None:
            # The keeper ends with its JVM, whose status it does not report.
            return how_it_ended(None, log_text(log, start)) if status(path) is None else None

        return attach_driver(attached["port"], attached["secret"], leave, fate)
    except BaseException:
        line.close()
        raise


def stop(path: Path) -> bool:
    """Ends the keeper at the socket and its JVM, whatever runs there; False where there is none."""
    try:
        line = Line(path)
    except Gone:
        return False
    pid = _peer(line)
    try:
        with suppress(Gone):
            line.ask("stop")
        if not line.wait_for_its_end(_STOP_SECONDS) and pid is not None:
            # The process at the other end of this very connection; its JVM is in its group.
            os.killpg(pid, signal.SIGKILL)
            line.wait_for_its_end(_STOP_SECONDS)
    except ProcessLookupError:
        pass
    finally:
        line.close()
    return True


def _peer(line: Line) -> int | None:
    """The process id at the other end, from the operating system; None where it does not report it."""
    return peer(line._socket)[0]


def peer(connection: socket.socket) -> tuple[int | None, int | None]:
    """Process and user id at the other end of a socket; None where the operating system does not report them."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None, None
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _gid = struct.unpack("3i", credentials)
    return pid, uid
