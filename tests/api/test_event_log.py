"""Events are logged at their levels, to a logger for each subject."""

import logging

import pytest

from merge_runner.api.event_log import log_event
from merge_runner.run.results.event_types import BranchDropped, InvocationFailed, Message, Running, SparkStarting
from merge_runner.run.results.events import Events


@pytest.mark.parametrize(
    ("event", "logged"),
    [
        (SparkStarting(master="local[2]"), ("spark", "INFO", "spark_starting master=local[2]")),
        (Running(nodes=3, threads=2), ("run", "INFO", "running nodes=3 threads=2")),
        (Message(message="it is slow", level="warn"), ("run", "WARNING", "it is slow")),
        (InvocationFailed(problems=["a"], level="error"), ("run", "ERROR", "invocation_failed")),
        (
            BranchDropped(table="t", branch="ci", snapshot=None, level="debug"),
            ("publish", "DEBUG", "branch_dropped table=t branch=ci"),
        ),
    ],
    ids=lambda value: getattr(value, "event", ""),
)
def test_an_event_is_a_record(caplog, event, logged):
    with caplog.at_level(logging.DEBUG, "merge_runner"):
        Events(log_event).emit(event)
    (record,) = caplog.records
    assert (record.name.removeprefix("merge_runner."), record.levelname, record.message) == logged
    assert record.event.event == event.event
