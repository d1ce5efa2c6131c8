"""The message for a Spark driver that is lost: how it ended, and what the user can do."""

from __future__ import annotations

import time

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.spark.errors import EngineError, engine_error
from merge_runner.formats.failures import Kind, surroundings

_POLL_SECONDS = 0.05


class NotBegunError(Exception):
    """The driver was lost before a node could begin: another driver may run it. `lost` says how."""

    def __init__(self, lost: EngineError) -> None:
        super().__init__(str(lost))
        self.lost = lost


def lost_driver(driver: Driver, error: BaseException, seconds: float | None = None) -> EngineError:
    """The error of a node whose driver is lost; `error` is what made us see it.

    A driver that is ending may take these seconds to report how; None: as many as it takes at most.
    """
    deadline = time.monotonic() + (driver.waits.end if seconds is None else seconds)
    while (fate := driver.fate()) is None and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    message = f"the Spark driver is lost: {fate if fate is not None else engine_error(error).message}"
    around = surroundings(fate or "")
    hint = around[1] if around is not None else "`merge-runner retry` starts another one"
    return EngineError("driver-lost", message, f"{hint}; it asks the tables what they have", Kind.LOST)
