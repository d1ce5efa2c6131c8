"""Reports what keeps a driver from going on: a run that waits for something says for what."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from merge_runner.engine.driver.driver import Driver, Waits
from merge_runner.engine.spark.errors import from_engine
from merge_runner.run.results.event_types import Message
from merge_runner.run.results.events import Events


@contextmanager
def watching(driver: Driver, events: Events) -> Iterator[None]:
    """Looks after the driver while the block runs."""
    over = threading.Event()
    try:
        trouble = driver.pulse()
    except Exception as error:  # it is lost, which the results report
        if not from_engine(error):
            raise
    else:
        # It may be waiting for a driver that does not answer: a daemon thread, which is not joined.
        threading.Thread(target=_watch, args=(trouble, driver.waits, events, over), name="watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(find_trouble: Callable[[], str | None], waits: Waits, events: Events, over: threading.Event) -> None:
    trouble, since, is_reported = None, 0.0, False
    while not over.wait(min(waits.check, waits.trouble)):
        try:
            current = find_trouble()
        except Exception:  # any error of a connection that is closed meanwhile: the results report it
            return
        now = time.monotonic()
        if current != trouble:
            trouble, since, is_reported = current, now, False
        if trouble is not None and not is_reported and not over.is_set() and now - since >= waits.trouble:
            events.emit(Message(f"for {now - since:.0f} s: {trouble}", level="warn"))
            is_reported = True
