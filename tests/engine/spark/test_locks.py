"""One writer per embedded table, over processes."""

import os
import subprocess
import sys
import threading

import pytest

from merge_runner.engine.spark.locks import writing

HOLDER = """
import sys
from pathlib import Path
from merge_runner.engine.spark.locks import writing
with writing(Path(sys.argv[1]), "s.t", print):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_process_waits_and_is_told_who_writes(tmp_path, holder):
    told = []

    def waiting(message):
        told.append(message)
        holder.stdin.close()

    with writing(tmp_path, "s.t", waiting):
        holder.wait(10)
    assert told == [f"s.t is being written by process {holder.pid}: waiting for it"]


def test_a_killed_holder_leaves_no_lock(tmp_path, holder):
    holder.kill()
    holder.wait()
    with writing(tmp_path, "s.t", pytest.fail):
        pass


def test_another_table_is_free(tmp_path, holder):
    with writing(tmp_path, "s.u", pytest.fail):
        assert (tmp_path / ".locks" / "s.u.lock").read_text() == str(os.getpid())


def test_waiting_ends_when_the_run_is_stopped(tmp_path, holder):
    stopping = threading.Event()
    with pytest.raises(InterruptedError), writing(tmp_path, "s.t", lambda _: stopping.set(), stopping.is_set):
        pass


def test_threads_share_a_lock_where_both_say_so_and_it_is_free_after_the_last(tmp_path):
    stopping = threading.Event()
    stopping.set()

    def alone():
        with writing(tmp_path, "s.t", lambda _: None, stopping.is_set):
            pass

    with writing(tmp_path, "s.t", pytest.fail, shared=True):
        with writing(tmp_path, "s.t", pytest.fail, shared=True), pytest.raises(InterruptedError):
            alone()
        with pytest.raises(InterruptedError):
            alone()
    alone()


def test_who_holds_a_lock_alone_shares_it_with_nobody(tmp_path):
    stopping = threading.Event()
    with (
        writing(tmp_path, "s.t", pytest.fail),
        pytest.raises(InterruptedError),
        writing(tmp_path, "s.t", lambda _: stopping.set(), stopping.is_set, shared=True),
    ):
        pass


def test_another_process_waits_for_a_shared_lock_too(tmp_path, holder):
    stopping = threading.Event()
    with (
        pytest.raises(InterruptedError),
        writing(tmp_path, "s.t", lambda _: stopping.set(), stopping.is_set, shared=True),
    ):
        pass
