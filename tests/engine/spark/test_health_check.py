"""What keeps a driver from going on, seen from outside; no Spark runs here."""

import socket
import threading
from types import SimpleNamespace

import pytest

from merge_runner.engine.spark.health_check import Pulse


def spark(port, master="local[2]", jobs=(), executors=("driver",)):
    status = SimpleNamespace(getActiveJobIds=lambda: jobs, getExecutorInfos=lambda: executors)
    process = SimpleNamespace(current=lambda: SimpleNamespace(pid=lambda: 4711))
    context = SimpleNamespace(
        _gateway=SimpleNamespace(
            java_parameters=SimpleNamespace(address="127.0.0.1", port=port, auth_token="a secret")
        ),
        _jvm=SimpleNamespace(**{"java.lang.ProcessHandle": process}),
        _jsc=SimpleNamespace(sc=lambda: SimpleNamespace(statusTracker=lambda: status)),
        master=master,
    )
    return SimpleNamespace(sparkContext=context)


@pytest.fixture
def listening():
    """A port at which somebody listens; `heard` is what the one is told that answers."""
    server, heard = socket.create_server(("127.0.0.1", 0)), []

    def answer():
        connection, _ = server.accept()
        with connection:
            heard.append(connection.recv(100))
            connection.sendall(b"!yv\n")

    yield SimpleNamespace(port=server.getsockname()[1], heard=heard, answer=threading.Thread(target=answer).start)
    server.close()


def test_a_process_that_takes_connections_and_answers_none_is_told(listening):
    said = Pulse(spark(listening.port), answers_within=0.3).trouble()
    assert said.startswith("Spark (process 4711) does not answer")
    assert "`kill -9 4711` ends it" in said


def test_one_that_answers_goes_on(listening):
    listening.answer()
    assert Pulse(spark(listening.port)).trouble() is None
    assert listening.heard == [b"A\na secret\n"]


@pytest.mark.parametrize(
    ("master", "jobs", "executors", "waits"),
    [
        ("spark://h:7077", (1,), ("driver",), True),
        ("spark://h:7077", (), ("driver",), False),  # nothing is asked of it
        ("spark://h:7077", (1,), ("driver", "executor"), False),
        ("local[2]", (1,), ("driver",), False),  # which is the executor too
    ],
)
def test_a_cluster_without_executors_is_told_where_there_are_jobs(listening, master, jobs, executors, waits):
    listening.answer()
    said = Pulse(spark(listening.port, master, jobs, executors)).trouble()
    assert (said is not None and "no executor" in said) == waits


def test_where_nobody_listens_there_is_nothing_to_wait_for(listening):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert Pulse(spark(port)).trouble() is None
