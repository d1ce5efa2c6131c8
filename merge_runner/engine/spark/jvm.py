"""The JVM of a classic driver: its process, and the gateway to it.

PySpark starts a JVM and waits for it. Here the process is started first, without loading PySpark, and the gateway is
opened when the JVM is up, so that a project can be read and planned meanwhile.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from merge_runner.atomic import make_folder, open_to_append
from merge_runner.engine.spark.appcds import writes_archive
from merge_runner.engine.spark.connection_loss import send_once
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.java import startable
from merge_runner.engine.spark.spark_home import spark_home
from merge_runner.engine.spark.start_folder import ConfsFile, StartFolder
from merge_runner.project.syntax.secret_names import secret_values
from merge_runner.template.redact import java_pattern

if TYPE_CHECKING:
    from subprocess import Popen

_LOG_LIMIT = 10 << 20
_LOG_END = 1 << 20
_POLL_SECONDS = 0.02
_END_SECONDS = 10.0
_ENDING_SECONDS = 2.0
_DEAF_TO_THE_TERMINAL = ("/bin/sh", "-c", """trap '' INT HUP; exec "$@" """, "sh")
"""Ctrl-C and the end of the terminal reach all processes there: the first one ends the JVM, once it has cancelled."""
_LAUNCHER_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For the JVM of Spark's launcher, which lives for a third of a second and prints the command of the real one."""


class Jvm:
    """A JVM that is on its way or up. It ends when this process ends, however that comes: its standard input closes."""

    def __init__(
        self, process: Popen[bytes], folder: StartFolder, log: Path, log_start: int, patience: float = _END_SECONDS
    ) -> None:
        self.process = process
        self.patience = patience
        """How many seconds its end is waited for."""
        self.log_start = log_start
        """Where what this JVM prints begins in its log."""
        self._log = log
        self._folder = folder
        self._gateway: Any = None
        self.address = (0, "")
        """Port and secret of the gateway, once `connect` has been called."""

    def _wait(self) -> tuple[int, str]:
        """Waits for the gateway in the JVM: its port and secret. Raises ChildProcessError where the JVM has ended."""
        while not self._folder.gateway.exists():
            if self.process.poll() is not None:
                raise ChildProcessError(f"the JVM ended with status {self.process.returncode}")
            time.sleep(_POLL_SECONDS)
        data = self._folder.gateway.read_bytes()  # Spark writes another file and renames it
        self._folder.remove_secrets()
        port, length = struct.unpack(">ii", data[:8])
        return port, data[8 : 8 + length].decode("utf-8")

    def connect(self) -> Any:
        """The gateway to the JVM, once it is up. Raises ChildProcessError where the JVM has ended."""
        self.address = self._wait()
        self._gateway = gateway(*self.address)
        self._gateway.proc = self.process  # as PySpark itself keeps it
        return self._gateway

    def has_ended(self) -> bool:
        """Whether the process is over, or is just ending."""
        try:
            self.process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def fate(self) -> str | None:
        """Return how the JVM has ended, as text; None while it runs."""
        status = self.process.poll()
        return how_it_ended(status, log_text(self._log, self.log_start)) if status is not None else None

    def end(self, *, wait: bool = True) -> None:
        """End the JVM: with `wait`, it has ended when this returns, by a kill after its `patience`.

        Without, it ends by itself, and writes its archive.
        """
        if self._gateway is not None:
            with suppress(Exception):  # it may have gone
                self._gateway.shutdown()
        with suppress(OSError):
            stdin: IO[bytes] | None = self.process.stdin
            if stdin is not None:
                stdin.close()
        if wait:
            self._signal(signal.SIGTERM)
            try:
                self.process.wait(self.patience)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self.process.wait()

    def kill(self) -> None:
        """Ends the JVM in the middle of whatever it does."""
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)


def launch(confs: Mapping[str, str], java_home: Path, root: Path, log: Path) -> Jvm:
    """Starts the JVM of a driver with its confs, in the folder `root`; what it prints is appended to the file `log`.

    Raises OSError. Neither Ctrl-C nor the end of the terminal ends it; SIGTERM or SIGKILL of the process group does.
    """
    home = spark_home()
    folder = StartFolder()
    settings: ConfsFile | None = None
    try:
        # Not on the command line, where everybody could read secrets.
        settings = ConfsFile(folder, _properties_text(confs))
        arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        java = startable(java_home.absolute(), folder.path)
        env = {
            **os.environ,
            "JAVA_HOME": str(java),
            "SPARK_HOME": str(home),
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder.gateway),
            "MERGE_RUNNER_HIDDEN": java_pattern(hidden(confs, os.environ)),
        }
        env.setdefault("SPARK_LAUNCHER_OPTS", _LAUNCHER_OPTIONS)
        # Before the options of the confs, which take precedence, as does a `spark.local.dir`.
        env["SPARK_SUBMIT_OPTS"] = f"{_option('java.io.tmpdir', folder.path)} {env.get('SPARK_SUBMIT_OPTS', '')}"
        submit = (str(home / "bin" / "spark-submit"), "--properties-file", str(settings.path))
        with _appending(log) as output:
            log_start = output.tell()
            process = subprocess.Popen(
                [*_DEAF_TO_THE_TERMINAL, *submit, *internals().submit_options, *arguments],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=root,
                env=env,
                pass_fds=(*settings.inherited, *folder.inherited),
            )
    finally:
        folder.close()
        if settings is not None:
            settings.close()
    # Whoever waits for the end does not need this JVM: what it has loaded is no archive to keep.
    return Jvm(process, folder, log, log_start, 0.0 if writes_archive(confs) else _END_SECONDS)


def _option(name: str, value: Path) -> str:
    """Return a system property as the launcher reads it in a variable."""
    return '"-D{}={}"'.format(name, str(value).replace("\\", "\\\\").replace('"', '\\"'))


def hidden(confs: Mapping[str, str], env: Mapping[str, str]) -> frozenset[str]:
    """What the log of a JVM may not show: models are not rendered yet when it starts, so any secret of `env` is one."""
    return frozenset((*secret_values(confs), *secret_values(env)))


def gateway(port: int, secret: str) -> Any:
    """PySpark's gateway to a running JVM. Raises what Py4J raises where no process, or another one, listens there."""
    from pyspark.java_gateway import launch_gateway

    os.environ |= {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    try:
        open_gateway = launch_gateway()  # type: ignore[no-untyped-call]
        send_once(open_gateway)
        return open_gateway
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]


def log_text(log: Path, start: int = 0) -> str:
    """The end of what has been logged since `start`, a place in the file; empty where there is no log."""
    with suppress(OSError), log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(start if start <= size else 0, size - _LOG_END))
        return file.read().decode("utf-8", "replace")
    return ""


def running_already() -> bool:
    """Whether PySpark in this process has a JVM that other code started, as in a notebook."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    context = internals().loaded_context()
    return context is not None and context._gateway is not None


def _properties_text(confs: Mapping[str, str]) -> str:
    """Return confs as a Java properties file."""
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in confs.items())


def _escape(text: str) -> str:
    special = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
    special |= {character: f"\\{character}" for character in " :=#!"}
    return "".join(special.get(character, character) for character in text)


@contextmanager
def _appending(log: Path) -> Iterator[IO[bytes]]:
    make_folder(log.parent, below=log.parent.parent)
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_suffix(".1.log"))
    with open_to_append(log, below=log.parent.parent) as output:
        yield output


_OUT_OF_MEMORY = 52
"""Spark's exit status where a task met an OutOfMemoryError (SparkExitCode.OOM, Spark 4.1), of a local driver too."""
_NO_MEMORY = re.compile(r"java\.lang\.OutOfMemoryError: ([^\r\n]+)")


def how_it_ended(status: int | None, log: str) -> str:
    """What to say of a JVM that ended with this status and has logged this text.

    A negative status is a signal's; None: it is not known.
    """
    messages = _NO_MEMORY.findall(log)
    if status == _OUT_OF_MEMORY:
        return f"its JVM ran out of memory: {messages[-1] if messages else 'Java heap space'} (exit status {status})"
    if status is not None and status < 0:
        name = signal.Signals(-status).name if -status in {*signal.Signals} else f"signal {-status}"
        by = "by a user, or by the system because the machine ran out of memory"
        return f"its JVM was killed ({name})" + (f": {by}" if -status == signal.SIGKILL else "")
    logged = f"; its log has `OutOfMemoryError: {messages[-1]}`" if messages else ""
    return ("its JVM has ended" if status is None else f"its JVM ended with exit status {status}") + logged
