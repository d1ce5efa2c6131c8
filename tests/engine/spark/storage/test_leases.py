"""One writer per table of an object store. The file system is a local one that Spark knows by its URI."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.storage import files
from merge_runner.engine.spark.storage.check import check_storage
from merge_runner.engine.spark.storage.leases import lease
from merge_runner.errors import ProblemsError
from merge_runner.location import Uri

pytestmark = pytest.mark.spark


@pytest.fixture
def warehouse(tmp_path):
    return Uri(f"file://{tmp_path}/lake")


def local(place):
    return Path(str(place).removeprefix("file://"))


def lock(warehouse, number=1):
    return local(warehouse) / ".locks/s.t" / f"{number:020d}"


def state(warehouse, number=1):
    return json.loads(lock(warehouse, number).read_text())


def holding(warehouse, number=1, **said):
    """A lock as another process has it."""
    lock(warehouse, number).parent.mkdir(parents=True, exist_ok=True)
    text = {"owner": "x", "host": "elsewhere", "process": 7, "beat": 0, "held": True, **said}
    lock(warehouse, number).write_text(json.dumps(text))


def test_the_holder_says_so_and_then_that_it_is_free(spark, warehouse):
    with lease(spark, warehouse, "s.t", pytest.fail):
        assert state(warehouse) | {"owner": "me"} == {
            "owner": "me",
            "host": socket.gethostname(),
            "process": os.getpid(),
            "beat": 0,
            "held": True,
        }
        with lease(spark, warehouse, "s.u", pytest.fail):
            pass
    assert state(warehouse)["held"] is False
    with lease(spark, warehouse, "s.t", pytest.fail):
        assert state(warehouse, 2)["held"] is True


def test_a_second_writer_waits_and_is_told_who_writes(spark, warehouse):
    holding(warehouse)
    told, stopping = [], threading.Event()

    def waiting(message):
        told.append(message)
        stopping.set()

    with pytest.raises(InterruptedError), lease(spark, warehouse, "s.t", waiting, stopping.is_set):
        pass
    assert told == ["s.t is being written by process 7 on elsewhere: waiting for it"]


def test_a_lock_that_is_not_renewed_is_taken_over(spark, warehouse):
    holding(warehouse, 41)
    started = time.monotonic()
    with lease(spark, warehouse, "s.t", lambda _: None, seconds=0.5):
        assert state(warehouse, 42)["held"] is True
    assert time.monotonic() - started > 0.5


def test_a_lock_that_is_renewed_is_waited_for(spark, warehouse):
    free, told = threading.Event(), []

    def other():
        with lease(spark, warehouse, "s.t", pytest.fail, seconds=1.0):
            told.append("held")
            free.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    while not told:
        time.sleep(0.01)
    threading.Timer(2.5, free.set).start()
    with lease(spark, warehouse, "s.t", told.append, seconds=1.0):
        assert free.is_set()
    thread.join()


def test_a_holder_of_this_machine_that_has_died_is_not_waited_for(spark, warehouse):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    holding(warehouse, host=socket.gethostname(), process=dead.pid)
    with lease(spark, warehouse, "s.t", pytest.fail):
        assert state(warehouse, 2)["held"] is True


def test_threads_share_a_lock_where_they_ask_for_it(spark, warehouse):
    inside = threading.Barrier(3, timeout=10)

    def share():
        with lease(spark, warehouse, "s.t", lambda _: None, shared=True):
            inside.wait()

    threads = [threading.Thread(target=share) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not inside.broken
    assert state(warehouse)["held"] is False


def test_a_text_that_is_damaged_holds_the_lock_for_a_lease(spark, warehouse):
    holding(warehouse)
    lock(warehouse).write_text("{")
    told = []
    with lease(spark, warehouse, "s.t", told.append, seconds=0.3):
        pass
    assert told == ["s.t is being written by an unknown process: waiting for it"]


def test_old_numbers_are_removed(spark, warehouse):
    for number in range(1, 12):
        holding(warehouse, number, held=False)
    with lease(spark, warehouse, "s.t", pytest.fail):
        assert sorted(map(int, files.names(spark, warehouse / ".locks" / "s.t"))) == [*range(5, 13)]


def test_of_two_that_make_a_file_one_does(spark, warehouse):
    assert files.create(spark, warehouse / "a", "one") is True
    assert files.create(spark, warehouse / "a", "two") is False
    assert files.create(spark, warehouse / "a", "one") is True  # its own, whose answer was lost
    assert files.read_text(spark, warehouse / "a") == "one"


def test_what_is_not_there_has_no_text_and_no_names(spark, warehouse):
    assert files.read_text(spark, warehouse / "a") is None
    assert files.names(spark, warehouse / "b") == []
    assert files.has_table(spark, warehouse / "t") is False


def test_an_empty_log_is_removed_and_one_with_a_commit_is_not(spark, warehouse):
    files.write_text(spark, warehouse / "t" / "_delta_log" / "00000000000000000000.json", "{}")
    local(warehouse / "u" / "_delta_log").mkdir(parents=True)
    # What a process leaves that was killed before it renamed the first commit.
    files.write_text(spark, warehouse / "v" / "_delta_log" / ".00000000000000000000.json.0a1b.tmp", "{}")
    for name in ("t", "u", "v"):
        files.remove_empty_log(spark, warehouse / name)
    assert files.has_table(spark, warehouse / "t")
    assert files.names(spark, warehouse / "u") == []
    assert [name for name in files.names(spark, warehouse / "v") if not name.endswith(".crc")] == []


def test_what_works_in_a_warehouse_is_reported_and_nothing_is_left(spark, warehouse):
    local(warehouse).mkdir()
    assert check_storage(spark, warehouse) == f"{warehouse}: can list, write, read, rename, put if absent and delete"
    assert files.names(spark, warehouse) == []


def test_what_does_not_work_is_named(spark, tmp_path):
    (tmp_path / "lake").write_text("a file")
    with pytest.raises(ProblemsError) as raised:
        check_storage(spark, Uri(f"file://{tmp_path}/lake"))
    assert f"file://{tmp_path}/lake: cannot write (it can list): " in str(raised.value)


def test_a_file_system_that_spark_does_not_know_is_an_error(spark):
    with pytest.raises(EngineError, match="No FileSystem for scheme"):
        files.names(spark, Uri("nowhere://bucket/lake"))
