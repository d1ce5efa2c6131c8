"""The keeper of a warm driver, with a pretended JVM: who may have it, and what ends it."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner.cli.commands.warm import command
from merge_runner.engine.startup import DriverStart, Machine, start_warm
from merge_runner.engine.warm import client, daemon
from merge_runner.engine.warm.client import Gone, Line, Order, Refused
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile


def until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class FakeJvm:
    """A process that does nothing, in place of a JVM."""

    address = (4711, "a secret")

    def __init__(self):
        self.process = subprocess.Popen(["sleep", "600"])
        self.ended = None

    def end(self, *, wait=True):
        self._end("gently" if wait else "by itself")

    def kill(self):
        self._end("at once")

    def _end(self, how):
        self.ended = self.ended or how
        self.process.kill()
        self.process.wait()


_RUNTIME = SimpleNamespace(totalMemory=lambda: 2, freeMemory=lambda: 1, maxMemory=lambda: 4)
_JAVA = SimpleNamespace(lang=SimpleNamespace(Runtime=SimpleNamespace(getRuntime=lambda: _RUNTIME)))
WRITES = {"spark.driver.extraJavaOptions": '-XX:ArchiveClassesAtExit="/cache/cds/key.part"'}
IDLE = SimpleNamespace(spark=SimpleNamespace(sparkContext=SimpleNamespace(_jvm=SimpleNamespace(java=_JAVA))))
"""A driver in a JVM with memory to spare."""


@pytest.fixture
def runtime(monkeypatch):
    """A folder for sockets, whose paths must be short."""
    folder = Path(tempfile.mkdtemp(prefix="mr"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def keep(runtime, tmp_path):
    """Starts a keeper in a thread of this process, which keeps a pretended JVM."""
    jvm, threads = FakeJvm(), []
    path = client.socket_path(tmp_path, os.environ)

    def spawn(order):
        def run():
            with daemon._listening(path) as listening:
                keeper = daemon._Keeper(order, listening, lambda *_: jvm, lambda *_: IDLE)
                keeper.run()
                for connection in keeper.connections:  # as the end of the process would
                    connection.shutdown(socket.SHUT_RDWR)

        threads.append(threading.Thread(target=run))
        threads[0].start()
        return SimpleNamespace(poll=lambda: None if threads[0].is_alive() else 0)

    def start(idle=600.0, key="the key", confs=None):
        order = Order(confs or {}, "/java", str(tmp_path), str(tmp_path / "log"), key, str(path), idle)
        spawn(order)
        until(lambda: (client.status(path) or {"ready": False})["ready"])
        return SimpleNamespace(path=path, jvm=jvm, over=lambda: not threads[0].is_alive(), order=order)

    start.spawn, start.path = spawn, path
    yield start
    if threads:
        client.stop(path)
        threads[0].join(30)
    jvm.end()


def test_one_run_at_a_time_has_the_jvm(keep):
    kept = keep()
    line, second = Line(kept.path), Line(kept.path)
    assert client.status(kept.path)["user"] is None
    assert line.ask("attach", key="the key") == {"port": 4711, "secret": "a secret"}
    assert client.status(kept.path)["user"] == os.getpid()
    with pytest.raises(Refused, match="busy"):
        second.ask("attach", key="the key")
    line.ask("status")
    line.ask("detach")
    line.close()
    assert second.ask("attach", key="the key")["port"] == 4711
    second.ask("detach")
    second.close()
    assert not kept.over()


def test_who_needs_another_driver_does_not_get_this_one(keep):
    line = Line(keep().path)
    with pytest.raises(Refused, match="other"):
        line.ask("attach", key="another key")
    line.close()


def test_a_run_that_is_killed_takes_the_jvm_with_it(keep):
    kept = keep()
    line = Line(kept.path)
    line.ask("attach", key="the key")
    line.close()
    until(kept.over)
    assert kept.jvm.ended == "at once"
    assert not kept.path.exists()


def test_a_keeper_ends_after_its_idle_time_and_not_while_it_is_used(keep):
    kept = keep(idle=0.5)
    line = Line(kept.path)
    line.ask("attach", key="the key")
    time.sleep(1)
    assert not kept.over()
    line.ask("detach")
    until(kept.over)
    assert kept.jvm.ended == "gently"
    line.close()


@pytest.mark.parametrize(
    ("attached", "confs", "ended"),
    [
        (False, {}, "gently"),
        (False, WRITES, "by itself"),
        (True, {}, "gently"),
        (True, WRITES, "gently"),
    ],
)
def test_nobody_waits_for_the_archive_of_a_jvm_in_which_nothing_runs(keep, attached, confs, ended):
    kept = keep(confs=confs)
    line = Line(kept.path)
    if attached:
        line.ask("attach", key="the key")
    client.stop(kept.path)
    until(kept.over)
    assert kept.jvm.ended == ended
    line.close()


def test_a_keeper_that_ends_accepts_nobody_any_longer(keep):
    kept = keep()
    assert "_accept" in _threads()
    kept.jvm.process.kill()
    until(kept.over)
    until(lambda: "_accept" not in _threads())


def _threads():
    """Return the names of the functions that threads of this process run."""
    return {name for thread in threading.enumerate() for name in [thread.name.partition("(")[2].rstrip(")")] if name}


def test_a_keeper_whose_jvm_has_ended_ends(keep):
    kept = keep()
    kept.jvm.process.kill()
    until(kept.over)
    assert client.status(kept.path) is None


def test_a_keeper_that_nobody_can_find_ends(keep):
    kept = keep()
    kept.path.unlink()
    until(kept.over)
    assert kept.jvm.ended == "gently"


def test_stop_ends_it_and_says_whether_there_was_one(keep):
    kept = keep()
    assert client.stop(kept.path)
    until(kept.over)
    assert not client.stop(kept.path)


def test_only_the_owner_can_come_to_the_socket(keep):
    path = keep().path
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("wrong", ["open", "link", "file"])
def test_a_folder_that_others_can_enter_is_refused(runtime, tmp_path, wrong):
    folder = runtime / "merge-runner"
    if wrong == "open":
        folder.mkdir()
        folder.chmod(0o755)
    elif wrong == "link":
        folder.symlink_to(tmp_path)
    else:
        folder.touch()
    with pytest.raises(PermissionError):
        client.socket_path(tmp_path, os.environ)


def test_the_socket_of_a_dead_keeper_is_nothing(runtime, tmp_path, keep):
    path = client.socket_path(tmp_path, os.environ)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert client.status(path) is None
    with pytest.raises(Gone):
        Line(path)
    assert not client.stop(path)
    keep()
    assert client.status(path)["ready"]


def test_a_project_has_one_keeper(keep):
    kept = keep()
    with daemon._listening(kept.path) as listening:
        assert listening is None
    assert client.status(kept.path)["ready"]


def test_a_driver_that_does_not_start_is_told(runtime, tmp_path):
    def spawn(_order):
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])

    order = Order({}, "/java", str(tmp_path), str(tmp_path / "log"), "k", str(runtime / "s.sock"))
    with pytest.raises(ChildProcessError, match="did not start"):
        client.start(order, spawn)


def test_starting_again_keeps_the_one_that_fits_and_replaces_another(keep):
    kept = keep()
    client.start(kept.order)
    assert not kept.over()
    spawned = []

    def spawn(order):
        spawned.append(order.key)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError):
        client.start(replace(kept.order, key="another"), spawn)
    assert spawned == ["another"]
    until(kept.over)


def test_one_that_is_in_use_is_not_replaced(keep):
    kept = keep()
    line = Line(kept.path)
    line.ask("attach", key="the key")
    with pytest.raises(Refused, match="busy"):
        client.start(replace(kept.order, key="another"))
    assert not kept.over()
    line.ask("detach")
    line.close()


@pytest.mark.parametrize(
    ("env", "used"),
    [
        ({}, True),
        ({"MERGE_RUNNER_WARM": "0"}, False),
        ({"CI": "true"}, False),
        ({"CI": "true", "MERGE_RUNNER_WARM": "1"}, True),
    ],
)
def test_a_warm_driver_is_not_used_in_ci_unless_asked(env, used):
    assert client.wanted(env) is used


def test_a_driver_is_another_with_other_confs_jars_java_or_environment(tmp_path):
    java, jar = tmp_path / "java", tmp_path / "a.jar"
    java.mkdir()
    jar.write_text("x")
    confs = {"spark.driver.extraClassPath": str(jar), "a": "b"}

    def key(java=java, **env):
        return client.driver_key(confs, java, {"HOME": "/h", **env})

    keys = [key(), key(AWS_PROFILE="x"), key(java=tmp_path)]
    assert key() == key(SPARK_BUFFER_SIZE="1") == key(HOME="/x")
    jar.write_text("another one")
    keys.append(key())
    confs["a"] = "c"
    keys.append(key())
    assert len(set(keys)) == 5


@pytest.fixture
def attaching(monkeypatch, tmp_path):
    """A Starting in a machine where the JVM of the keeper is not looked into; `launched` says what it started."""
    launched, notes = [], []

    def none_to_spawn(_order):
        raise OSError("no process for a keeper")

    machine = Machine(
        running_already=lambda: False,
        find_java=lambda _env: Path("/java"),
        require_java=lambda _env: Path("/java"),
        jars_at_hand=lambda *_: [],
        fetch_jars=lambda *_: [],
        launch=lambda *_: launched.append("a JVM of its own"),
        open_driver=lambda *_: "a driver of its own",
        driver_key=lambda *_: "the key",
        attach_driver=lambda port, secret, leave, fate: SimpleNamespace(stop=lambda: leave(True)),
    )
    monkeypatch.setenv("MERGE_RUNNER_CDS", "0")

    def make(keep_warm=0, spawn=none_to_spawn, **env):
        env = {**os.environ, "CI": "", **env}
        profile, of_test = Profile("p", "t", "s", keep_warm=keep_warm), replace(machine, spawn_keeper=spawn)
        starting = DriverStart(profile, tmp_path, tmp_path / "log", env, notes.append, of_test)
        return SimpleNamespace(starting=starting, launched=launched, notes=notes, log=tmp_path / "warm.log")

    return make


@pytest.mark.parametrize("launched_first", [True, False])
def test_a_run_uses_the_warm_driver_and_leaves_it(keep, attaching, launched_first):
    kept, run = keep(), attaching()
    if launched_first:
        run.starting.launch()
    driver = run.starting.driver()
    assert client.status(kept.path)["user"] == os.getpid()
    driver.stop()
    assert client.status(kept.path)["user"] is None
    assert run.launched == []


def test_a_run_that_ends_before_it_begins_leaves_the_warm_driver(keep, attaching):
    kept, run = keep(), attaching()
    with run.starting as starting:
        starting.launch()
        starting.proceed()
    assert client.status(kept.path)["user"] is None


@pytest.mark.parametrize("launched_first", [True, False])
def test_a_profile_keeps_the_driver_of_a_run_for_the_next(keep, attaching, launched_first):
    orders = []

    def spawn(order):
        orders.append(order)
        return keep.spawn(order)

    for run in (attaching(keep_warm=15, spawn=spawn), attaching(keep_warm=15)):
        if launched_first:
            run.starting.launch()
            run.starting.proceed()
        driver = run.starting.driver()
        assert client.status(keep.path)["user"] == os.getpid()
        driver.stop()
        assert client.status(keep.path)["user"] is None
        assert run.launched == []
    assert [(order.idle, order.key, order.log) for order in orders] == [(900, "the key", str(run.log))]
    assert run.notes == ["the Spark driver stays for 15 min (keep_warm): `merge-runner warm stop` ends it"]


@pytest.mark.parametrize(
    ("keep_warm", "env", "notes"),
    [
        (0, {}, []),
        (15, {"CI": "true"}, []),
        (15, {"MERGE_RUNNER_WARM": "0"}, []),
        (15, {}, ["the Spark driver stays for 15 min", "the warm driver cannot be used: no process for a keeper"]),
    ],
)
def test_a_run_whose_driver_is_not_kept_has_a_jvm_of_its_own(runtime, attaching, keep_warm, env, notes):
    run = attaching(keep_warm=keep_warm, **env)
    run.starting.launch()
    assert run.starting.driver() == "a driver of its own"
    assert run.launched[:1] == ["a JVM of its own"]
    assert [note[: len(start)] for note, start in zip(run.notes, notes, strict=True)] == notes


def test_a_run_that_fails_while_the_kept_driver_starts_does_not_wait_for_it(runtime, attaching):
    spawned = []

    def spawn(order):
        spawned.append(order)
        return SimpleNamespace(poll=lambda: None)  # its socket never appears

    started = time.monotonic()
    with attaching(keep_warm=15, spawn=spawn).starting as starting:
        starting.launch()
        starting.proceed()
    assert time.monotonic() - started < 2
    assert len(spawned) == 1


@pytest.mark.parametrize("why", ["busy", "CI", "none"])
def test_a_run_that_does_not_get_it_starts_a_jvm_of_its_own(keep, attaching, why, capsys):
    line = None
    if why != "none":
        line = Line(keep().path)
    if why == "busy":
        line.ask("attach", key="the key")
    run = attaching(CI="true") if why == "CI" else attaching()
    run.starting.launch()
    assert run.starting.driver() == "a driver of its own"
    assert run.launched[0] == "a JVM of its own"
    if why == "busy":
        line.ask("detach")
    if line is not None:
        line.close()


def test_none_is_kept_warm_for_a_server(tmp_path):
    with pytest.raises(ProblemsError) as caught:
        start_warm(Profile("p", "t", "s", master=None, remote="sc://h"), tmp_path, tmp_path, os.environ, 1, print)
    assert caught.value.problems[0].code == "warm-remote"


def test_status_tells_whether_there_is_one(make_project, runtime):
    from click.testing import CliRunner

    root = make_project({})
    done = CliRunner().invoke(command, ["status", "--project-dir", str(root)], standalone_mode=False)
    assert (done.output, done.return_value) == ("there is no warm driver\n", 1)


NOBODY = 65534
KNOCK = """
import os, socket, sys
os.setgid({user}); os.setuid({user})
line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
try:
    line.connect(sys.argv[1])
    line.sendall(b'{{"do": "status"}}\\n')
    print(len(line.recv(1000)))
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_nobody_but_the_owner_reaches_a_keeper(keep, runtime):
    path = keep().path

    def knock(user):
        words = [sys.executable, "-c", KNOCK.format(user=user), str(path)]
        return subprocess.run(words, capture_output=True, text=True, check=True, cwd="/").stdout.strip()

    assert int(knock(0)) > 10
    assert knock(NOBODY) == "PermissionError"  # nobody can enter the folder
    # Even where it stood open, the keeper asks the system who is there, and hangs up.
    runtime.chmod(0o755)
    path.parent.chmod(0o755)
    path.chmod(0o777)
    assert knock(NOBODY) in ("0", "ConnectionResetError", "BrokenPipeError")
    assert int(knock(0)) > 10
