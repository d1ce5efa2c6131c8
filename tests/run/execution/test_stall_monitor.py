"""What a run says that waits for its driver."""

import time

import pytest

from merge_runner.engine.driver.driver import Waits
from merge_runner.run.execution.stall_monitor import watching as watched
from merge_runner.run.results.events import Events
from tests.fake_engine import FakeDriver


@pytest.fixture
def told():
    """Watches a driver that is in these troubles, one after the other, and gives what was told."""

    def run(troubles):
        driver, messages = FakeDriver(troubles=troubles, waits=Waits(trouble=0.02, check=0.01)), []
        with watched(driver, Events(lambda event: messages.append(event.data["message"].partition(": ")[2]))):
            deadline = time.monotonic() + 30
            while driver.has_troubles and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.05)
        return messages

    return run


def test_a_trouble_that_lasts_is_told_once(told):
    assert told(["it is stopped"] * 9 + [None] + ["no executor"] * 9) == ["it is stopped", "no executor"]


def test_a_trouble_that_passes_is_not_told(told):
    assert told(["it is stopped", None] * 5) == []


def test_a_driver_that_is_lost_is_not_watched():
    driver = FakeDriver()
    driver.die()
    with watched(driver, Events()):
        pass
