"""Where an invocation gets its Spark driver: one that it starts, or one that its caller gave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from merge_runner.engine.driver.driver import Driver


class DriverSource(Protocol):
    """A driver that runs already, or one on its way (`DriverStart`)."""

    @property
    def is_own(self) -> bool:
        """Whether the driver is the invocation's own, which stops it in the end and may take another."""

    def launch(self) -> None:
        """Start the JVM of an own driver where nothing has to be fetched for it. Nothing here waits or fails."""

    def proceed(self) -> None:
        """Start Spark in the JVM that was launched, in a separate thread."""

    def driver(self) -> Driver:
        """Return the driver, once it is up. Raises ProblemsError where it does not start."""

    def abandon(self) -> None:
        """End what was started and not been asked for."""

    def another(self) -> DriverSource:
        """Return a source of an own driver that takes the place of a lost one."""


@dataclass(frozen=True)
class GivenDriver:
    """A driver that a caller gave: it is used as it is, and left running."""

    running: Driver
    is_own: bool = False

    def launch(self) -> None:
        """Do nothing: it runs."""

    def proceed(self) -> None:
        """Do nothing: it runs."""

    def driver(self) -> Driver:
        """Return the driver."""
        return self.running

    def abandon(self) -> None:
        """Do nothing: it is the caller's."""

    def another(self) -> GivenDriver:
        """Return the same: no other one takes its place."""
        return self
