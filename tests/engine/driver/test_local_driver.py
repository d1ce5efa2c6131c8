"""How a driver in a JVM of its own is left at the end of an invocation."""

import threading
from types import SimpleNamespace

import pytest

from merge_runner.engine.driver.local_driver import ClassicDriver, stops_with_jvm


class FakeSpark:
    """A session in a JVM: what is called at its end."""

    def __init__(self):
        self.calls, self.ended = [], threading.Event()
        server = SimpleNamespace(shutdown=self.ended.set)
        self.sparkContext = SimpleNamespace(_jsc=object(), _accumulatorServer=server)

    def stop(self):
        self.calls.append("stop")


@pytest.mark.parametrize(
    ("quick", "running", "calls"), [(True, set(), []), (False, set(), ["stop"]), (True, {"a group"}, ["stop"])]
)
def test_spark_that_stops_with_its_jvm_is_not_waited_for(quick, running, calls):
    spark, ended = FakeSpark(), []
    driver = ClassicDriver(spark, on_end=lambda: ended.append(True), stops_with_jvm=quick, running=running)
    driver.stop()
    assert (spark.calls, ended) == (calls, [True])
    if not calls:
        assert spark.ended.wait(10)
        assert spark.sparkContext._jsc is None
        driver.stop()  # once more, as at the end of a block
        assert spark.calls == []


def test_a_server_of_accumulators_that_does_not_end_prints_nothing(monkeypatch):
    spark, raised = FakeSpark(), []
    monkeypatch.setattr(threading, "excepthook", raised.append)

    def shutdown():
        spark.ended.set()
        raise OSError("gone")

    spark.sparkContext._accumulatorServer.shutdown = shutdown
    ClassicDriver(spark, on_end=lambda: None, stops_with_jvm=True).stop()
    assert spark.ended.wait(10)
    for thread in threading.enumerate():
        if thread.name == "accumulators-end":
            thread.join(10)
    assert raised == []


@pytest.mark.parametrize(
    ("confs", "expected"),
    [
        ({"spark.master": "local[*]"}, True),
        ({"spark.master": "local[2]", "spark.eventLog.enabled": "false"}, True),
        ({"spark.master": "local[2]", "spark.eventLog.enabled": " True"}, False),
        ({"spark.master": "spark://host:7077"}, False),
        ({"spark.master": "yarn"}, False),
        ({}, False),
    ],
)
def test_a_local_spark_without_an_event_log_stops_with_its_jvm(confs, expected):
    assert stops_with_jvm(confs) is expected
