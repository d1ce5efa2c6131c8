"""A connection to a Spark Connect server, which takes the place of a driver in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from merge_runner.engine.driver.databricks import REMOTE, DatabricksServer, check_metadata
from merge_runner.engine.driver.driver import Waits
from merge_runner.engine.spark.confs import session_confs
from merge_runner.engine.spark.errors import first_line, silence_error_log
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.sql import set_confs
from merge_runner.engine.spark.start_notes import other_line
from merge_runner.engine.table_format.registry import table_format
from merge_runner.errors import Problem, ProblemsError, missing_extra
from merge_runner.formats.lines import line_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.project.schema.profile import Profile

_WAITS = Waits()
_CONNECT_SECONDS = 10.0
_UNAVAILABLE = "CONFIG_NOT_AVAILABLE"
_REFUSED = ("CANNOT_MODIFY", _UNAVAILABLE)
"""The conditions of an error that a conf cannot be set; the second one is that of serverless compute of Databricks."""
_RETRIES = 6
"""Over about a minute, each pause four times the last. Spark's own 15 wait ten minutes for a server that is gone."""


class Server(Protocol):
    """What a driver and its start ask of a server."""

    def wait(self) -> None:
        """Wait until it answers. Raises TimeoutError."""

    def session(self) -> SparkSession:
        """Open a session."""


class ConnectServer:
    """A Spark Connect server at a URL."""

    def __init__(self, remote: str) -> None:
        self._remote = remote

    def wait(self) -> None:
        """Wait for a channel to it."""
        import grpc  # type: ignore[import-untyped]
        from pyspark.sql.connect.client import DefaultChannelBuilder

        channel = DefaultChannelBuilder(self._remote).toChannel()
        try:
            grpc.channel_ready_future(channel).result(timeout=_CONNECT_SECONDS)
        except grpc.FutureTimeoutError as error:
            raise TimeoutError(f"nothing answered within {_CONNECT_SECONDS:.0f} s") from error
        finally:
            channel.close()

    def session(self) -> SparkSession:
        """Open a session with a separate channel."""
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        session: Any = ConnectSession.builder.remote(self._remote).create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
        new_session: SparkSession = session
        return new_session


def close_channel_alone(session: Any) -> None:
    """Have the client of a session close its own channel at its end, once, and nothing that other sessions use.

    PySpark's own `close` (3.5 to 4.2) also shuts down the thread pool of all sessions, and a session that is collected
    as garbage closes its client once more: in the middle of what another session does with the pool, in the same
    thread, which then waits for itself for ever.
    """
    client = session.client

    def close() -> None:
        if not client._closed:
            client._closed = True
            client._channel.close()

    client._closed = False
    client.close = close


class ConnectDriver:
    """A Spark Connect server as a Driver. Each session has its own channel and its own server-side session.

    What a classic driver has and a server does not give: the figures of files skipped and scanned (they are in the
    status store of the server's driver), FAIR pools (the server's default pool is shared), and confs that are fixed
    when Spark starts. Paths of seeds and of file sources are opened by the server: it must see them under the same
    name. What runs is stopped by interrupting the session, since there are no job groups.
    """

    table_format = staticmethod(table_format)

    def __init__(self, spark: SparkSession, confs: Mapping[str, str], server: Server, waits: Waits = _WAITS) -> None:
        close_channel_alone(spark)
        self.spark = spark
        self.waits = waits
        self._confs = confs
        self._server = server
        self._running: dict[str, _Running] = {}

    @contextmanager
    def session(self, confs: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
        """Open a separate session with the profile's confs and these, which ends on the server with the block."""
        session = self._server.session()
        close_channel_alone(session)
        try:
            set_confs(session, {**self._confs, **(confs or {})})
            yield session
        finally:
            session.stop()

    @contextmanager
    def job_group(self, session: SparkSession, group: str, description: str) -> Iterator[None]:
        """What the session runs inside the block can be cancelled and watched by the name `group`.

        The server tags its operations, and their jobs, with the description: a client gives a job none.
        """
        running, tag = _Running(session), description.replace(",", " ")  # no tag has a comma
        session.registerProgressHandler(running.progress)
        session.addTag(tag)
        self._running[group] = running
        try:
            yield
        finally:
            del self._running[group]
            session.removeTag(tag)
            session.removeProgressHandler(running.progress)

    def cancel(self, group: str) -> None:
        """Interrupt what the group runs, and what it would run next; return immediately."""
        if group in self._running:
            threading.Thread(target=self._interrupt, args=[group], name=f"interrupt {group}", daemon=True).start()

    def tasks(self, group: str) -> tuple[int, int]:
        """Tasks done and known of a group's active stages, as the server last reported them (every two seconds)."""
        running = self._running.get(group)
        return running.tasks if running is not None else (0, 0)

    def phase(self, group: str) -> None:
        """Not known: a server reports its stages, and not what they are for."""

    def settled(self, session: SparkSession) -> bool:
        """Not known: a server goes on with a statement by itself."""
        return False

    def fate(self) -> None:
        """Not known: the server is not ours."""

    def pulse(self) -> Callable[[], str | None]:
        """Report nothing: the client retries by itself, and gives up after about a minute."""
        return self.fate

    def stop(self) -> None:
        """Ends the first session; the server goes on."""
        self.spark.stop()

    def kill(self) -> None:
        """Nothing: the connection ends with the process, and the server goes on."""

    def _interrupt(self, group: str) -> None:
        # An interrupt that comes between two statements stops neither, so it is repeated until the group has ended.
        while (running := self._running.get(group)) is not None:
            with suppress(Exception):  # the server may be gone, or the session just ended
                running.session.interruptAll()
            time.sleep(self.waits.interrupt)


class _Running:
    """What a group runs: its session, and how far its statement is."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.tasks = (0, 0)

    def progress(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        """Keep what the server reports; the names of the arguments are PySpark's."""
        active = [stage for stage in stages or () if not stage.done and not done]
        self.tasks = (sum(stage.num_completed_tasks for stage in active), sum(stage.num_tasks for stage in active))


def connect(
    profile: Profile, remote: str, notify: Callable[[str], None], server: Server | None = None
) -> ConnectDriver:
    """Connect to the server at `remote`; `notify` is called with every setting that has no effect there.

    `server` is asked instead of the one there.

    Raises ProblemsError: `connect-warehouse`, `connect-iceberg`, `missing-extra` and `connect-missing` (the Python
    packages), `spark-not-started`.
    """
    if profile.warehouse is not None:
        problem = Problem(
            "connect-warehouse",
            "the embedded warehouse does not work over Spark Connect: the server's catalog keeps the tables",
            hint=f"leave `warehouse` out of the output {profile.target} in profiles.yml",
        )
        raise ProblemsError([problem])
    try:
        import pyspark.sql.connect.client  # noqa: F401 -- whether it is there
    except ImportError as error:  # PySpark's own PySparkImportError is one
        if isinstance(error, ModuleNotFoundError) and error.name == "pyspark":
            missing = "this connects to a Spark Connect server, and its client is not installed"
            raise missing_extra(missing, "connect") from None
        problem = Problem(
            "connect-missing",
            f"Spark Connect needs more Python packages: {first_line(error)}",
            hint="pip install 'pyspark[connect]'",
        )
        raise ProblemsError([problem]) from error
    silence_error_log()
    on_databricks = remote == REMOTE
    server = server or (DatabricksServer() if on_databricks else ConnectServer(remote))
    try:
        server.wait()
        spark = server.session()
        version = str(spark.version)
        confs = _check_confs(spark, session_confs(profile), notify)
    except Exception as error:  # gRPC and PySpark raise many kinds; to the user all mean the same
        problem = Problem(
            "spark-not-started",
            f"no Spark Connect session at {profile.where}: {first_line(error)}",
            hint="check that the server is running and that host and token are correct",
        )
        raise ProblemsError([problem]) from error
    _check_line(profile, version)
    if on_databricks:
        check_metadata(spark)
    for note in other_line(profile, version):
        notify(note)
    if profile.jvm is not None:
        notify("`jvm` has no effect over Spark Connect: the server's JVM is running already")
    return ConnectDriver(spark, confs, server)


def _check_line(profile: Profile, version: str) -> None:
    """Refuse tables whose commits could not be stamped there, so that a retry would write rows twice.

    Raises ProblemsError `connect-iceberg`.
    """
    line = line_of(version)
    if line is not None and profile.iceberg_catalogs and not internals(line).has_snapshot_confs:
        message = f"Iceberg on {line} records no commit metadata over Spark Connect: a retry could write rows twice"
        hint = "run these models with `master` instead of `remote`, or on a server of Spark 4.0 or newer"
        raise ProblemsError([Problem("connect-iceberg", message, hint=hint)])


def _check_confs(spark: SparkSession, confs: Mapping[str, str], notify: Callable[[str], None]) -> dict[str, str]:
    """The confs that a session of this server can be given."""
    accepted = {}
    for key, value in confs.items():
        try:
            spark.conf.set(key, value)
        except Exception as error:
            condition = getattr(error, internals().condition, lambda: None)()
            if not str(condition).startswith(_REFUSED):
                raise
            why = "it is fixed when the server starts" if condition != _UNAVAILABLE else "this compute does not take it"
            notify(f"{key} has no effect over Spark Connect: {why}")
        else:
            accepted[key] = value
    return accepted
