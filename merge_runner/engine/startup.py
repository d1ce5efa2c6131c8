"""Starts the Spark driver of an invocation, concurrently with the other work before the first statement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.spark.appcds import archive, with_archive
from merge_runner.engine.spark.confs import jar_groups, spark_confs, table_formats
from merge_runner.engine.spark.embedded_catalog import prepare_catalogs
from merge_runner.engine.spark.errors import first_line
from merge_runner.engine.spark.file_lock import check_system
from merge_runner.engine.spark.format_jars import check_provided
from merge_runner.engine.spark.jars import fetch_jars, jars_at_hand
from merge_runner.engine.spark.java import check_java, find_java, require_java
from merge_runner.engine.spark.jvm import Jvm, launch, log_text, running_already
from merge_runner.engine.spark.running_jvm import (
    Submission,
    check_classes,
    confs_in_running_jvm,
    notes_of_running,
    submission,
)
from merge_runner.engine.spark.spark_home import SparkHome, check_version, installed_spark
from merge_runner.engine.spark.start_notes import notes
from merge_runner.engine.spark.user_confs import check_defaults
from merge_runner.engine.warm import client
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.start_failures import start_failure
from merge_runner.version import pyspark_version

if TYPE_CHECKING:
    from subprocess import Popen

    from merge_runner.project.schema.profile import Profile

_POLL_SECONDS = 0.2
_ABANDON_SECONDS = 5.0


def _open_driver(confs: Mapping[str, str], jvm: Jvm | None) -> Driver:
    from merge_runner.engine.driver.local_driver import open_driver  # loads PySpark

    return open_driver(confs, jvm)


def _forget_gateway() -> None:
    from merge_runner.engine.driver.local_driver import forget_gateway

    forget_gateway()


def _attach_driver(port: int, secret: str, leave: Callable[[bool], None], fate: Callable[[], str | None]) -> Driver:
    from merge_runner.engine.warm.driver import attach_driver  # loads PySpark

    return attach_driver(port, secret, leave, fate)


@dataclass(frozen=True)
class Machine:
    """What a start asks of the machine and does with it; a test passes another one."""

    running_already: Callable[[], bool] = running_already
    find_java: Callable[[Mapping[str, str]], Path | None] = find_java
    require_java: Callable[[Mapping[str, str]], Path] = require_java
    jars_at_hand: Callable[[Iterable[str], Mapping[str, str]], list[Path] | None] = jars_at_hand
    fetch_jars: Callable[[Iterable[str], Mapping[str, str], Callable[[str], None]], list[Path]] = fetch_jars
    launch: Callable[[Mapping[str, str], Path, Path, Path], Jvm] = launch
    submission: Callable[[], Submission] = submission
    open_driver: Callable[[Mapping[str, str], Jvm | None], Driver] = _open_driver
    forget_gateway: Callable[[], None] = _forget_gateway
    driver_key: Callable[[Mapping[str, str], Path, Mapping[str, str]], str] = client.driver_key
    spawn_keeper: Callable[[client.Order], Popen[bytes]] = client.spawn_keeper
    attach_driver: client.AttachDriver = _attach_driver


THIS_MACHINE = Machine()


class DriverStart:
    """A driver on its way, as the profile says. Leaving the block ends what has been started and not been asked for.

    What the JVM prints goes to the file `log`; `notify` is called with what takes time or has no effect. Raises what
    `check_system` raises.
    """

    def __init__(
        self,
        profile: Profile,
        root: Path,
        log: Path,
        env: Mapping[str, str],
        notify: Callable[[str], None],
        machine: Machine = THIS_MACHINE,
    ) -> None:
        check_system()
        self._machine = machine
        self._profile = profile
        self._root = root.absolute()  # the JVM may have another folder
        self._log = log.absolute()
        self._env = env
        self._notify = notify
        self._jvm: Jvm | None = None
        self._opened: Future[Driver] | None = None
        self._abandoned = False
        self._warm = False
        """Whether the driver is one of a keeper: of one that is free, or of one that this invocation starts."""
        self._keeper: Popen[bytes] | None = None
        """The keeper that was started in `launch`."""
        self._guard = threading.Lock()

    @property
    def is_own(self) -> bool:
        """Whether the invocation stops the driver in the end: it was started for it."""
        return True

    def __enter__(self) -> DriverStart:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abandon()

    def another(self) -> DriverStart:
        """Return one that starts the same once more."""
        return DriverStart(self._profile, self._root, self._log, self._env, self._notify, self._machine)

    def launch(self) -> None:
        """Starts the JVM where all that it needs is there; nothing here waits, fails or makes a thread.

        It is that of a keeper where the profile keeps drivers and no keeper is there.
        """
        if self._profile.remote is not None or self._machine.running_already() or self._keeper_is_free():
            return
        java = self._machine.find_java(self._env)
        jars = self._machine.jars_at_hand(jar_groups(self._profile), self._env)
        if java is None or jars is None:
            return
        with suppress(OSError, ProblemsError):  # raised again when the driver is requested
            check_java(java, table_formats(self._profile))
            defaults = fitting_spark(self._profile, self._root, self._env).defaults
            confs = spark_confs(self._profile, self._root, jars, defaults)
            start_confs = with_archive(
                confs, archive(self._profile, confs, java, self._env, defaults), self._log, self._env
            )
            if self._warm:
                self._keeper = self._machine.spawn_keeper(self._order(confs, start_confs, java))
            else:
                self._jvm = self._machine.launch(start_confs, java, self._root, self._log)

    def _keeper_is_free(self) -> bool:
        """Whether there is a keeper without a user. Where there is no keeper, decides whether one is started."""
        with suppress(OSError):
            if client.wanted(self._env):
                state = client.status(client.socket_path(self._root, self._env))
                free = state is not None and state["ready"] and state["user"] is None
                self._warm = free or (state is None and self._idle_seconds > 0)
                return free
        return False

    @property
    def _idle_seconds(self) -> float:
        """How long a driver of this profile is kept; 0: it is not."""
        return self._profile.keep_warm * 60.0

    def _order(self, confs: Mapping[str, str], start_confs: Mapping[str, str], java: Path) -> client.Order:
        """Return the order for a keeper whose driver has `confs`, and starts with `start_confs`."""
        key = self._machine.driver_key(confs, java, self._env)
        return warm_order(self._root, self._log, self._env, start_confs, java, key, self._idle_seconds)

    def proceed(self) -> None:
        """Start Spark in the JVM that was launched, in a separate thread."""
        if self._jvm is not None or self._warm:
            self._opening()

    def driver(self) -> Driver:
        """The driver, once it is up; it is the caller's from now on.

        Raises ProblemsError: no Java, a Spark or spark-defaults.conf that does not fit, no jars, Spark did not
        start; what `connect` raises.
        """
        if self._profile.remote is not None:
            from merge_runner.engine.driver.connect_driver import connect

            return connect(self._profile, self._profile.remote, self._notify)
        if self._jvm is None and self._opened is None and not self._warm:
            self.launch()  # a warm driver is found there, too
        # Not in this thread: PySpark would answer a Ctrl-C in its own way from then on.
        future = self._opening()
        while not future.done():
            # Without a timeout, an interrupt that comes just before the wait would be seen only after it.
            wait([future], timeout=_POLL_SECONDS)
        driver = future.result()
        self._jvm = self._opened = None
        return driver

    def abandon(self) -> None:
        """End immediately what has been started."""
        with self._guard:
            self._abandoned = True
            jvm = self._jvm
        if jvm is not None:
            jvm.end()
        if self._opened is not None and (jvm is not None or self._warm):
            wait([self._opened], timeout=_ABANDON_SECONDS)
            with suppress(Exception):  # it could not be started any more
                self._opened.result(timeout=0).stop()
            self._machine.forget_gateway()
        self._jvm = self._opened = None

    def _opening(self) -> Future[Driver]:
        if self._opened is None:
            self._opened = Future()
            threading.Thread(target=self._open, args=(self._opened,), name="spark-start", daemon=True).start()
        return self._opened

    def _open(self, future: Future[Driver]) -> None:
        try:
            future.set_result(self._start())
        except BaseException as error:
            future.set_exception(error)

    def _start(self) -> Driver:
        profile, machine = self._profile, self._machine
        if machine.running_already():
            return self._in_running_jvm()
        spark = fitting_spark(profile, self._root, self._env)
        java = machine.require_java(self._env)
        check_java(java, table_formats(profile))
        prepare_catalogs(profile, self._root)
        jars = machine.fetch_jars(jar_groups(profile), self._env, self._notify)
        for note in notes(profile, spark, jars):
            self._notify(note)
        confs = spark_confs(profile, self._root, jars, spark.defaults)
        fitting = archive(profile, confs, java, self._env, spark.defaults)
        start_confs = with_archive(confs, fitting, self._log, self._env)
        if self._warm:
            attached = self._attach(confs, start_confs, java)
            if attached is not None:
                return attached
        try:
            try:
                return self._open_in(start_confs, java)
            except Exception:
                if (
                    fitting is None
                    or start_confs == confs
                    or self._abandoned
                    or not (self._jvm and self._jvm.has_ended())
                ):
                    raise
                # It may be the archive that the JVM could not bear.
                self._jvm = None
                machine.forget_gateway()
                driver = self._open_in(confs, java)
                fitting.discard()
                return driver
        except Exception as error:  # Py4J and PySpark raise many kinds; to the user all mean the same
            raise ProblemsError([self._not_started(error)]) from error

    def _in_running_jvm(self) -> Driver:
        """A driver in the JVM that other code started, with its jars: that of spark-submit, or of a notebook."""
        profile = self._profile
        prepare_catalogs(profile, self._root)
        try:
            submission = self._machine.submission()
            confs = confs_in_running_jvm(profile, self._root, submission)
            driver = self._machine.open_driver(confs, None)
        except ProblemsError:
            raise
        except Exception as error:
            raise ProblemsError([self._not_started(error)]) from error
        check_classes(profile, driver.spark)
        for note in notes_of_running(profile, submission, str(driver.spark.version)):
            self._notify(note)
        return driver

    def _attach(self, confs: Mapping[str, str], start_confs: Mapping[str, str], java: Path) -> Driver | None:
        """A driver in the project's warm JVM, or in a new one where that was started otherwise; None: in none."""
        try:
            order = self._order(confs, start_confs, java)
            path = Path(order.socket)
            state = client.status(path)
            if state is None and not order.idle:
                return None
            if self._keeper is not None or state is None:
                self._notify(
                    f"the Spark driver stays for {self._profile.keep_warm} min (keep_warm): "
                    "`merge-runner warm stop` ends it"
                )
                client.start(order, lambda _: self._keeper or self._machine.spawn_keeper(order), self._is_needed)
            elif state["key"] != order.key:
                self._notify("the warm driver was started otherwise than this run needs it: a new one is started")
                client.start(replace(order, idle=state["limit"]), self._machine.spawn_keeper, self._is_needed)
            return client.attach(path, order.key, warm_log(self._log), self._machine.attach_driver)
        except Exception as error:  # whatever it is, a JVM of our own will do
            if self._abandoned:
                raise
            self._notify(f"the warm driver cannot be used: {first_line(error)}")
            return None

    def _is_needed(self) -> bool:
        return not self._abandoned

    def _open_in(self, confs: Mapping[str, str], java: Path) -> Driver:
        """A driver in the JVM that was launched, or else in a new one."""
        with self._guard:
            if self._abandoned:
                raise InterruptedError("the driver is no longer needed")
            if self._jvm is None and not self._machine.running_already():
                self._jvm = self._machine.launch(confs, java, self._root, self._log)
        return self._machine.open_driver(confs, self._jvm)

    def _not_started(self, error: Exception) -> Problem:
        lines = log_text(self._log, self._jvm.log_start if self._jvm else 0).splitlines()
        causes = [line for line in lines[-200:] if "Exception" in line or "Error" in line]
        failure = start_failure("\n".join(lines))
        reason = failure[0] if failure is not None else causes[-1].strip() if causes else first_line(error)
        log = f"full log: {self._log}"
        return Problem(
            "spark-not-started",
            f"Spark did not start on {self._profile.master}: {reason}",
            hint=log if failure is None else f"{failure[1]}; {log}",
        )


def start_warm(
    profile: Profile, root: Path, log: Path, env: Mapping[str, str], idle: float, notify: Callable[[str], None]
) -> None:
    """Starts the project's warm driver, which ends after `idle` seconds of nothing; nothing where it is up already.

    Raises ProblemsError: what `start_driver` raises, `warm-remote` over Spark Connect, `warm-busy` where one that was
    started otherwise is in use.
    """
    check_system()
    if profile.remote is not None:
        raise ProblemsError([Problem("warm-remote", "a Spark Connect server is running anyway: none is kept warm")])
    spark = fitting_spark(profile, root, env)
    java = require_java(env)
    check_java(java, table_formats(profile))
    jars = fetch_jars(jar_groups(profile), env, notify)
    for note in notes(profile, spark, jars):
        notify(note)
    confs = spark_confs(profile, root, jars, spark.defaults)
    start_confs = with_archive(confs, archive(profile, confs, java, env, spark.defaults), log, env)
    try:
        client.start(warm_order(root, log, env, start_confs, java, client.driver_key(confs, java, env), idle))
    except client.Refused as error:
        message = "the warm driver was started otherwise, and a run is using it"
        raise ProblemsError([Problem("warm-busy", message, hint="wait for it, or `merge-runner warm stop`")]) from error
    except (OSError, ChildProcessError) as error:
        raise ProblemsError([Problem("warm-not-started", f"no warm driver: {error}")]) from error


def fitting_spark(profile: Profile, root: Path, env: Mapping[str, str]) -> SparkHome:
    """Return the Spark that starts for a classic output.

    Raises ProblemsError: what `installed_spark`, `check_version`, `check_defaults` and `check_provided` raise.
    """
    home = installed_spark(root, env)
    check_version(home, pyspark_version())
    check_defaults(profile, home)
    if profile.jars == "provided":
        check_provided(profile, home)
    return home


def warm_order(
    root: Path, log: Path, env: Mapping[str, str], confs: Mapping[str, str], java: Path, key: str, idle: float
) -> client.Order:
    """The order for a keeper of the project in `root`: which driver it starts and keeps. Raises PermissionError."""
    socket = client.socket_path(root, env)
    return client.Order(confs, str(java), str(root), str(warm_log(log)), key, str(socket), idle)


def warm_log(log: Path) -> Path:
    """Where a keeper logs: next to the log of cold drivers."""
    return log.with_name("warm.log").absolute()


def start_driver(
    profile: Profile,
    root: Path,
    log: Path,
    env: Mapping[str, str],
    notify: Callable[[str], None] = lambda _: None,
    machine: Machine = THIS_MACHINE,
) -> Driver:
    """Starts Spark, or connects to a Spark Connect server, as the profile says. Raises ProblemsError."""
    with DriverStart(profile, root, log, env, notify, machine) as starting:
        starting.launch()
        return starting.driver()
