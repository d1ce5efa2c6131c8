"""The queue: it never blocks, it drops what is too much, and it stops where nothing can be sent."""

import threading
import time

from merge_runner.openlineage.sender import Sender


class Wire:
    """A transport that keeps what is sent; `fails` says which numbers of events fail; it waits while it is `held`."""

    def __init__(self, fails=lambda number: False, held=None):
        self.sent, self.tried, self.fails, self.held = [], 0, fails, held

    def send(self, event):
        if self.held is not None:
            self.held.wait()
        self.tried += 1
        if self.fails(self.tried):
            raise OSError("no route to host")
        self.sent.append(event["n"])

    def close(self, seconds):
        pass


def sender(wire, warnings, limit=100):
    return Sender(lambda: wire, lambda n: [{"n": n}], warnings.append, limit)


def test_all_is_sent_in_order():
    wire, warnings = Wire(), []
    queue = sender(wire, warnings)
    for n in range(50):
        queue.put(n)
    queue.close(10)
    assert wire.sent == list(range(50))
    assert warnings == []


def test_what_is_too_much_is_dropped_and_counted_without_waiting():
    held, warnings = threading.Event(), []
    wire = Wire(held=held)
    queue = sender(wire, warnings, limit=2)
    for n in range(20):
        queue.put(n)  # returns, though nothing is sent yet
    held.set()
    queue.close(10)
    assert wire.sent == sorted(wire.sent)
    assert warnings == [f"{20 - len(wire.sent)} events could not be sent"]
    assert 2 <= len(wire.sent) <= 4


def test_one_failure_loses_one_event():
    wire, warnings = Wire(fails=lambda number: number == 2), []
    queue = sender(wire, warnings)
    for n in range(5):
        queue.put(n)
    queue.close(10)
    assert wire.sent == [0, 2, 3, 4]
    assert warnings == ["OSError: no route to host", "1 event could not be sent"]


def test_nothing_more_is_tried_after_three_failures_in_a_row():
    wire, warnings = Wire(fails=lambda number: True), []
    queue = sender(wire, warnings)
    for n in range(20):
        queue.put(n)
    queue.close(10)
    assert wire.tried == 3
    assert warnings == ["OSError: no route to host", "20 events could not be sent"]


def test_the_end_does_not_wait_longer_than_it_may():
    held, warnings = threading.Event(), []
    queue = sender(Wire(held=held), warnings)
    for n in range(3):
        queue.put(n)
    queue.close(0.05)
    held.set()
    assert warnings == ["3 events could not be sent"]


def test_the_end_waits_once_though_the_queue_is_full():
    wire, warnings = Wire(), []
    wire.send = lambda event: time.sleep(1)
    queue = sender(wire, warnings, limit=1)
    for n in range(9):
        queue.put(n)
    started = time.monotonic()
    queue.close(1.2)  # after a second the queue takes the end, and there are two more to wait for
    assert time.monotonic() - started < 1.7
    assert len(warnings) == 1


def test_a_client_that_is_not_installed_is_one_warning():
    def connect():
        raise ModuleNotFoundError("No module named 'openlineage'", name="openlineage")

    warnings = []
    queue = Sender(connect, lambda n: [{"n": n}], warnings.append)
    for n in range(3):
        queue.put(n)
    queue.close(10)
    assert warnings[0] == "the client is not installed: pip install 'merge-runner[openlineage]'"
    assert warnings[1:] == ["3 events could not be sent"]
