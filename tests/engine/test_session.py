"""What is said where Spark cannot be had, and how a Spark Connect server stands in for a driver; no server runs here."""

import os
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from merge_runner.engine import connect
from merge_runner.engine.connect import ConnectDriver
from merge_runner.engine.session import start_driver
from merge_runner.errors import ProblemsError
from merge_runner.project.profile import Profile


def far(**keys):
    return Profile("shop", "far", "shop", master=None, remote="sc://127.0.0.1:9/;token=secret", **keys)


def refused(profile, tmp_path, notify=lambda _: None):
    with pytest.raises(ProblemsError) as caught:
        start_driver(profile, tmp_path, tmp_path / "spark.log", os.environ, notify)
    (problem,) = caught.value.problems
    return problem


@pytest.fixture
def packages(monkeypatch):
    """A pretended PySpark Connect client."""
    client = ModuleType("pyspark.sql.connect.client")
    client.DefaultChannelBuilder = lambda remote: SimpleNamespace(toChannel=lambda: None)
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.client", client)
    monkeypatch.setattr(connect, "_wait_for_server", lambda channel: None)


class RefusedError(Exception):
    def getCondition(self):  # noqa: N802  # PySpark's name
        return "CANNOT_MODIFY_STATIC_CONFIG"


class FakeSession:
    """A session of a server on which the confs of `static` are fixed."""

    version = "4.1.4"
    static = frozenset({"spark.executor.memory"})

    def __init__(self):
        self.confs, self.interrupts, self.stopped, self.handlers = {}, 0, False, []
        self.conf = SimpleNamespace(set=self._set)
        self.interrupted = threading.Event()

    def _set(self, key, value):
        if key in self.static:
            raise RefusedError("no")
        self.confs[key] = value

    def interruptAll(self):  # noqa: N802
        self.interrupts += 1
        self.interrupted.set()

    def registerProgressHandler(self, handler):  # noqa: N802
        self.handlers.append(handler)

    def removeProgressHandler(self, handler):  # noqa: N802
        self.handlers.remove(handler)

    def stop(self):
        self.stopped = True


@pytest.fixture
def sessions(monkeypatch):
    """The sessions that were opened, in order."""
    opened = []

    def new(remote):
        opened.append(FakeSession())
        return opened[-1]

    monkeypatch.setattr(connect, "_new_session", new)
    return opened


def test_the_embedded_warehouse_is_refused_over_spark_connect(tmp_path):
    problem = refused(far(warehouse="warehouse"), tmp_path)
    assert problem.code == "connect-warehouse"
    assert "the output far" in problem.hint


def test_missing_packages_are_named_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.client", None)
    problem = refused(far(), tmp_path)
    assert problem.code == "connect-missing"
    assert problem.hint == "pip install 'pyspark[connect]'"


def test_a_server_that_does_not_answer_is_named_without_its_token(tmp_path, monkeypatch, packages):
    def nothing(channel):
        raise TimeoutError("nothing answered within 10 s")

    monkeypatch.setattr(connect, "_wait_for_server", nothing)
    problem = refused(far(), tmp_path)
    assert problem.code == "spark-not-started"
    assert problem.message == "no Spark Connect session at sc://127.0.0.1:9: nothing answered within 10 s"
    assert "secret" not in str(problem)


def test_confs_that_the_server_has_fixed_are_told_and_left_out(tmp_path, packages, sessions):
    told = []
    profile = far(conf={"spark.executor.memory": "1g", "my.own": "x"}, jvm="throughput")
    driver = start_driver(profile, tmp_path, tmp_path / "spark.log", os.environ, told.append)
    assert driver.session_confs == sessions[0].confs == {"spark.sql.session.timeZone": "UTC", "my.own": "x"}
    assert told == [
        "spark.executor.memory has no effect over Spark Connect: it is fixed when the server starts",
        "`jvm` has no effect over Spark Connect: the server's JVM is running already",
    ]


def test_each_session_of_a_server_ends_with_its_block(sessions):
    driver = ConnectDriver(FakeSession(), "sc://h", {})
    with driver.session() as first, driver.session() as second:
        assert first is not second
        assert not second.stopped
    assert first.stopped
    assert second.stopped
    assert not driver.spark.stopped


def test_a_cancelled_group_is_interrupted_until_it_has_ended(monkeypatch):
    monkeypatch.setattr(connect, "_INTERRUPT_SECONDS", 0.001)
    driver, session, other = ConnectDriver(FakeSession(), "sc://h", {}), FakeSession(), FakeSession()
    with driver.job_group(session, "a", "model a"), driver.job_group(other, "b", "model b"):
        driver.cancel("a")
        for _ in range(3):  # one that came between two statements would have stopped neither
            assert session.interrupted.wait(10)
            session.interrupted.clear()
    assert other.interrupts == 0
    driver.cancel("a")  # nothing runs by this name any more
    assert session.handlers == []


def test_the_tasks_of_a_group_are_those_of_its_active_stages():
    driver, session = ConnectDriver(FakeSession(), "sc://h", {}), FakeSession()
    stages = [
        SimpleNamespace(done=True, num_completed_tasks=9, num_tasks=9),
        SimpleNamespace(done=False, num_completed_tasks=1, num_tasks=4),
        SimpleNamespace(done=False, num_completed_tasks=0, num_tasks=2),
    ]
    with driver.job_group(session, "a", "model a"):
        (tell,) = session.handlers
        tell(stages=stages, inflight_tasks=2, operation_id="x", done=False)
        assert driver.tasks("a") == (1, 6)
        tell(stages=stages, inflight_tasks=0, operation_id="x", done=True)
        assert driver.tasks("a") == (0, 0)
    assert driver.tasks("a") == (0, 0)


def test_a_driver_that_does_not_start_says_why_and_where_its_log_is(tmp_path, monkeypatch):
    from pyspark.sql import SparkSession

    log = tmp_path / "spark.log"

    def fail(self):
        os.write(2, b"INFO all is well\njava.lang.IllegalArgumentException: System memory is too small\n\tat Main\n")
        raise RuntimeError("Java gateway process exited before sending its port number")

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", fail)
    monkeypatch.setenv("JAVA_HOME", "/java")
    monkeypatch.setattr("merge_runner.engine.session.require_java", lambda env: "/java")
    monkeypatch.setattr("merge_runner.engine.session.fetch_jars", lambda *_: [])
    with pytest.raises(ProblemsError) as caught:
        start_driver(Profile("shop", "dev", "shop"), tmp_path, log, os.environ)
    (problem,) = caught.value.problems
    assert problem.message == (
        "Spark did not start on local[*]: java.lang.IllegalArgumentException: System memory is too small"
    )
    assert str(log) in problem.hint
