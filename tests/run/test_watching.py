"""What a run says that waits for its driver."""

import threading
from types import SimpleNamespace

import pytest

from merge_runner.run.execution import stall_monitor
from merge_runner.run.execution.stall_monitor import watching as watched
from merge_runner.run.results.events import Events


@pytest.fixture
def told(monkeypatch):
    """Watches a driver that is in these troubles, one after the other, and gives what was told."""
    monkeypatch.setattr(stall_monitor, "_PAUSE", 0.01)

    def run(troubles, patience):
        monkeypatch.setattr(stall_monitor, "PATIENCE", patience)
        over, left, messages = threading.Event(), list(troubles), []

        def trouble():
            if not left:
                over.set()
                raise ConnectionRefusedError
            return left.pop(0)

        events = Events(lambda event: messages.append(event.data["message"].partition(": ")[2]))
        with watched(SimpleNamespace(pulse=lambda: trouble), events):
            assert over.wait(30)
        return messages

    return run


def test_a_trouble_that_lasts_is_told_once(told):
    assert told(["it is stopped"] * 9 + [None] + ["no executor"] * 9, 0.02) == ["it is stopped", "no executor"]


def test_a_trouble_that_passes_is_not_told(told):
    assert told(["it is stopped", None] * 5, 0.02) == []


def test_a_driver_that_is_lost_is_not_watched():
    def pulse():
        raise ConnectionRefusedError

    with watched(SimpleNamespace(pulse=pulse), Events()):
        pass
