"""What a Spark driver is to those who run models: sessions, job groups, cancellation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from merge_runner.formats import Format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.table_format.protocol import TableFormat


@dataclass(frozen=True)
class Waits:
    """How long a run waits for its driver, in seconds."""

    first_pause: float = 0.5
    """Before a statement runs again for the first time; doubled each time, and all but a random part."""
    longest_pause: float = 10.0
    """The longest of these pauses."""
    trouble: float = 30.0
    """How long the same trouble lasts before it is reported, once."""
    check: float = 5.0
    """Between two checks for trouble."""
    interrupt: float = 0.5
    """Between two interrupts of a session of Spark Connect whose statement is cancelled."""
    end: float = 30.0
    """How long a driver may take to report how it has ended (20 s were seen of a JVM without memory)."""


class Driver(Protocol):
    """A running Spark: a driver in this process (ClassicDriver), or a server far away (ConnectDriver)."""

    @property
    def waits(self) -> Waits:
        """How long to wait for it."""

    @property
    def spark(self) -> SparkSession:
        """The first session, which lives as long as the driver."""

    def session(self, confs: Mapping[str, str] | None = None) -> AbstractContextManager[SparkSession]:
        """Open a session with the profile's confs and these. Its confs and temporary views are not shared."""

    def job_group(self, session: SparkSession, group: str, description: str) -> AbstractContextManager[None]:
        """What this thread runs in the session inside the block belongs to `group`."""

    def cancel(self, group: str) -> None:
        """Cancels what a group runs, and what it would run next."""

    def tasks(self, group: str) -> tuple[int, int]:
        """Tasks done and known of a group's active stages. The second number grows while a statement runs."""

    def phase(self, group: str) -> str | None:
        """The phase of a MERGE that the group's latest jobs are about; None where none says so."""

    def settled(self, session: SparkSession) -> bool:
        """Whether, after the connection broke, the engine has ended its command and answers again.

        Raises what an engine raises that has gone.
        """

    def table_format(self, name: Format | None) -> TableFormat:
        """Return the table format of a name; None, a format that is not known, is Delta."""

    @property
    def fate(self) -> Callable[[], str | None]:
        """A function that returns how the driver has ended, as text; None where it runs, or where it is not known."""

    def pulse(self) -> Callable[[], str | None]:
        """A function for another thread that returns what keeps the driver from going on, as text; None: nothing."""

    def stop(self) -> None:
        """Ends the driver, or the connection; what was running is lost."""

    def kill(self) -> None:
        """End it immediately, whether or not the driver answers."""
