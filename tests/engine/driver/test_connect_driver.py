"""What is said where Spark cannot be had, and how a Spark Connect server stands in for a driver; no server runs here."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from merge_runner.engine.driver.connect_driver import ConnectDriver, connect
from merge_runner.engine.driver.databricks import DatabricksServer
from merge_runner.engine.driver.driver import Waits
from merge_runner.engine.spark.jvm import launch
from merge_runner.engine.startup import DriverStart, Machine, start_driver
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile


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
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.client", ModuleType("pyspark.sql.connect.client"))


class RefusedError(Exception):
    def getCondition(self):  # noqa: N802  # PySpark's name
        return "CANNOT_MODIFY_STATIC_CONFIG"


class FakeSession:
    """A session of a server on which the confs of `static` are fixed."""

    version = "4.1.4"
    static = frozenset({"spark.executor.memory"})

    def __init__(self):
        self.confs, self.interrupts, self.stopped, self.handlers = {}, 0, False, []
        self.client = SimpleNamespace(_channel=SimpleNamespace(close=self._closed), close=self._shuts_the_pool)
        self.closed = 0
        self.conf = SimpleNamespace(set=self._set)
        self.interrupted = threading.Event()
        self.tags = set()
        self.addTag, self.removeTag = self.tags.add, self.tags.remove

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
        self.client.close()

    def _closed(self):
        self.closed += 1

    def _shuts_the_pool(self):
        raise AssertionError("other sessions use the pool")


class FakeServer:
    """A server that answers; `opened` has its sessions, in order."""

    def __init__(self):
        self.opened = []

    def wait(self):
        pass

    def session(self):
        self.opened.append(FakeSession())
        return self.opened[-1]


class DeadServer(FakeServer):
    def wait(self):
        raise TimeoutError("nothing answered within 10 s")


def test_the_embedded_warehouse_is_refused_over_spark_connect(tmp_path):
    problem = refused(far(warehouse="warehouse"), tmp_path)
    assert problem.code == "connect-warehouse"
    assert "the output far" in problem.hint


def test_missing_packages_are_named_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.client", None)
    problem = refused(far(), tmp_path)
    assert problem.code == "connect-missing"
    assert problem.hint == "pip install 'pyspark[connect]'"


def test_a_server_that_does_not_answer_is_named_without_its_token(packages):
    with pytest.raises(ProblemsError) as caught:
        connect(far(), far().remote, print, DeadServer())
    (problem,) = caught.value.problems
    assert problem.code == "spark-not-started"
    assert problem.message == "no Spark Connect session at sc://127.0.0.1:9: nothing answered within 10 s"
    assert "secret" not in str(problem)


def test_confs_that_the_server_has_fixed_are_told_and_left_out(packages):
    told, server = [], FakeServer()
    profile = far(conf={"spark.executor.memory": "1g", "my.own": "x"}, jvm="throughput")
    driver = connect(profile, profile.remote, told.append, server)
    with driver.session({"for.one": "y"}):
        pass
    accepted = {"spark.sql.session.timeZone": "UTC", "my.own": "x"}
    assert [each.confs for each in server.opened] == [accepted, accepted | {"for.one": "y"}]
    assert told == [
        "spark.executor.memory has no effect over Spark Connect: it is fixed when the server starts",
        "`jvm` has no effect over Spark Connect: the server's JVM is running already",
    ]


class OldServer(FakeServer):
    """A server of Spark 3.5."""

    def session(self):
        made = super().session()
        made.version = "3.5.9"
        return made


def test_a_server_of_another_line_than_lint_judges_for_is_told(packages):
    told = []
    connect(far(), far().remote, told.append, OldServer())
    (note,) = told
    assert note.startswith("lint judges for Spark 4.1, and the models run on Spark 3.5.9: a MERGE may scan more")
    told.clear()
    connect(far(spark="3.5"), far().remote, told.append, OldServer())
    assert told == []


def test_iceberg_on_a_server_that_records_no_commit_metadata_is_refused(packages):
    profile = far(catalogs={"ice": {"type": "rest", "uri": "http://host"}}, spark="3.5")
    with pytest.raises(ProblemsError) as caught:
        connect(profile, profile.remote, print, OldServer())
    (problem,) = caught.value.problems
    assert problem.code == "connect-iceberg"
    assert connect(profile, profile.remote, [].append, FakeServer())


def test_each_session_of_a_server_ends_with_its_block():
    driver = ConnectDriver(FakeSession(), {}, FakeServer())
    with driver.session() as first, driver.session() as second:
        assert first is not second
        assert not second.stopped
    assert first.stopped
    assert second.stopped
    assert not driver.spark.stopped
    first.client.close()  # as it does once more when it is collected as garbage
    assert first.closed == second.closed == 1


def test_a_cancelled_group_is_interrupted_until_it_has_ended():
    driver = ConnectDriver(FakeSession(), {}, FakeServer(), Waits(interrupt=0.001))
    session, other = FakeSession(), FakeSession()
    with driver.job_group(session, "a", "model a"), driver.job_group(other, "b", "model b, of two"):
        driver.cancel("a")
        for _ in range(3):  # one that came between two statements would have stopped neither
            assert session.interrupted.wait(10)
            session.interrupted.clear()
        assert (session.tags, other.tags) == ({"model a"}, {"model b  of two"})
    assert other.interrupts == 0
    assert not session.tags and not other.tags
    driver.cancel("a")  # nothing runs by this name any more
    assert session.handlers == []


def test_the_tasks_of_a_group_are_those_of_its_active_stages():
    driver, session = ConnectDriver(FakeSession(), {}, FakeServer()), FakeSession()
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


@pytest.fixture
def spark_submit(tmp_path, monkeypatch):
    """Makes Spark a shell script, which runs in place of its JVM; gives the folder that it may write into."""

    def make(script):
        home = tmp_path / "fake"
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "spark-submit").write_text(f"#!/bin/sh\ncd '{home}'\n{script}\n")
        (home / "bin" / "spark-submit").chmod(0o755)
        monkeypatch.setenv("SPARK_HOME", str(home))
        return home

    return make


MACHINE = Machine(
    running_already=lambda: False,
    find_java=lambda _env: Path("/java"),
    require_java=lambda _env: Path("/java"),
    jars_at_hand=lambda *_: [],
    fetch_jars=lambda *_: [],
)
"""Has Java and all jars; no JVM of another test counts."""


def starting(tmp_path, **keys):
    profile = Profile("shop", "dev", "shop", **keys)
    return DriverStart(profile, tmp_path, tmp_path / "logs" / "spark.log", os.environ, lambda _: None, MACHINE)


def until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def alive(pid):
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"  # ended, and not waited for
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_driver_that_does_not_start_says_why_and_where_its_log_is(tmp_path, spark_submit):
    spark_submit(
        """
        echo 'INFO all is well' >&2
        echo 'java.lang.IllegalArgumentException: System memory is too small' >&2
        exit 1
        """
    )
    log = tmp_path / "spark.log"
    log.write_text("java.lang.Error: of an earlier run\n")
    with pytest.raises(ProblemsError) as caught:
        start_driver(Profile("shop", "dev", "shop"), tmp_path, log, os.environ, machine=MACHINE)
    (problem,) = caught.value.problems
    assert problem.message == (
        "Spark did not start on local[*]: java.lang.IllegalArgumentException: System memory is too small"
    )
    assert str(log) in problem.hint


def test_a_cause_in_the_log_of_an_earlier_run_is_not_told(tmp_path, spark_submit):
    spark_submit("exit 3")
    log = tmp_path / "spark.log"
    log.write_text("java.lang.Error: of an earlier run\n")
    with pytest.raises(ProblemsError) as caught:
        start_driver(Profile("shop", "dev", "shop"), tmp_path, log, os.environ, machine=MACHINE)
    (problem,) = caught.value.problems
    assert problem.message == "Spark did not start on local[*]: the JVM ended with status 3"


@pytest.mark.parametrize("proceeded", [False, True])
def test_a_driver_that_nobody_asks_for_is_ended(tmp_path, spark_submit, proceeded):
    home = spark_submit("echo $$ > pid; while sleep 0.1; do :; done")
    with starting(tmp_path) as coming:
        coming.launch()
        if proceeded:
            coming.proceed()
        until(lambda: (home / "pid").exists() and (home / "pid").read_text())
        pid = int((home / "pid").read_text())
        assert alive(pid)
    assert not alive(pid)


def test_a_jvm_that_ignores_sigterm_is_killed(tmp_path, spark_submit):
    home = spark_submit("trap '' TERM; echo $$ > pid; while sleep 0.1; do :; done")
    jvm = launch({}, Path("/java"), tmp_path, tmp_path / "jvm.log")
    until(lambda: (home / "pid").exists() and (home / "pid").read_text())
    jvm.patience = 0.2
    jvm.end()
    assert not alive(int((home / "pid").read_text()))


def test_a_jvm_reads_its_confs_from_a_file_of_its_own(tmp_path, spark_submit):
    home = spark_submit("""echo "$*" > arguments; cp "$2" confs; ls -lL "$2" > mode""")
    with starting(tmp_path, conf={"my.secret": "a=b c\\d"}) as coming:
        coming.launch()
        until(lambda: (home / "mode").exists() and (home / "mode").read_text())
    assert "my.secret=a\\=b\\ c\\\\d\n" in (home / "confs").read_text()
    assert "my.secret" not in (home / "arguments").read_text()
    assert (home / "mode").read_text().startswith("-rw-------")


CHILD = """
import sys
from pathlib import Path
from merge_runner.engine.spark.jvm import launch

kept = launch({}, Path("/java"), Path.cwd(), Path("jvm.log"))
print(kept.process.pid, flush=True)
sys.stdin.read()
"""


def test_the_jvm_of_a_killed_process_reads_the_end_of_its_input(tmp_path, spark_submit):
    spark_submit("exec cat")
    parent = subprocess.Popen(
        [sys.executable, "-c", CHILD], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    parent.wait()
    until(lambda: not alive(pid))
    parent.stdin.close()
    parent.stdout.close()


@pytest.mark.spark
def test_a_group_that_is_cancelled_before_its_statement_has_a_job_is_cancelled(driver):
    # The first stage of a shuffle under adaptive execution is no job of its own.
    slow = "select count(*) from range(3000000000) group by id % 7 having max(sha2(cast(id as string), 512)) = 'x'"
    with driver.session() as own, driver.job_group(own, "early", "cancelled early"):
        driver.cancel("early")
        with pytest.raises(Exception, match="cancelled"):
            own.sql(slow).collect()


class UnavailableError(Exception):
    def getCondition(self):  # noqa: N802  # PySpark's name
        return "CONFIG_NOT_AVAILABLE"


class Serverless(FakeSession):
    """A session of compute that takes no confs but a few."""

    version = "4.0.0"

    def _set(self, key, value):
        if key != "spark.sql.session.timeZone":
            raise UnavailableError(f"[CONFIG_NOT_AVAILABLE] Configuration {key} is not available.")
        super()._set(key, value)


class Cluster(FakeSession):
    version = "4.0.0"

    def __init__(self):
        super().__init__()
        self.conf.unset = self.confs.pop


class Builder:
    """What `DatabricksSession.builder` is asked."""

    def __init__(self, kind):
        self.kind, self.opened = kind, []

    def create(self):
        self.opened.append(self.kind())
        return self.opened[-1]


def on_databricks(kind, said, **keys):
    profile = Profile("shop", "far", "main.shop", master=None, remote="databricks", spark="4.0", **keys)
    builder = Builder(kind)
    return connect(profile, profile.remote, said.append, DatabricksServer(builder)), builder


def test_databricks_connect_opens_a_session_for_each_node_by_its_own_builder(packages):
    said = []
    driver, builder = on_databricks(Cluster, said, conf={"spark.sql.shuffle.partitions": "8"})
    with driver.session({"for.one": "y"}):
        pass
    confs = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "8"}
    assert [each.confs for each in builder.opened] == [confs, {**confs, "for.one": "y"}]
    assert said == []


def test_compute_whose_commits_cannot_be_found_again_is_refused(packages):
    said = []
    with pytest.raises(ProblemsError) as caught:
        on_databricks(Serverless, said, conf={"spark.sql.shuffle.partitions": "8"})
    (problem,) = caught.value.problems
    assert problem.code == "connect-metadata"
    assert "spark.databricks.delta.commitInfo.userMetadata" in problem.message
    assert said == ["spark.sql.shuffle.partitions has no effect over Spark Connect: this compute does not take it"]


def test_databricks_connect_that_is_not_installed_is_named(packages):
    with pytest.raises(ProblemsError) as caught:
        connect(far(), "databricks", print)
    (problem,) = caught.value.problems
    assert (problem.code, "pip install databricks-connect" in problem.hint) == ("connect-missing", True)
