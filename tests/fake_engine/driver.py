"""The driver: sessions, job groups, its end, and how a run starts one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from merge_runner.engine.driver.driver import Waits
from merge_runner.errors import Problem, ProblemsError
from tests.fake_engine.faults import Faults, missing, raised
from tests.fake_engine.lake import Lake, Table, dotted
from tests.fake_engine.session import FakeSession
from tests.fake_engine.table_format import FakeFormat, FakeIceberg

KILLED = "its JVM was killed (SIGKILL): by a user, or by the system because the machine ran out of memory"
AT_ONCE = Waits(first_pause=0.0, longest_pause=0.0, end=0.0)
"""A statement runs again without a pause."""
MergeFunction = Callable[[str, tuple[Any, ...]], tuple[tuple[Any, ...], Mapping[str, int]]]
_FORMAT, _ICEBERG = FakeFormat(), FakeIceberg()


class FakeDriver:
    """A driver whose tables are those of a lake.

    `faults` are as in faults.py. `counts` has the rows that the statement of a model writes (`{"m": {"inserted": 3}}`),
    `failures` how many rows fail of the data tests whose query contains a text, and `answers` the rows, or the columns by
    type, of other statements by how they begin. `merges` are functions by model that merge rows: from the text of a
    MERGE or DELETE and the rows of the table to its rows afterwards, and how many were changed of each kind. `troubles` are what the driver's pulse returns in turn. `observe` is
    called with a session and each statement before it runs, in the thread that runs it.
    """

    def __init__(
        self,
        lake: Lake | None = None,
        faults: Mapping[str, Sequence[str | None]] | None = None,
        *,
        counts: Mapping[str, Mapping[str, int]] | None = None,
        failures: Mapping[str, int] | None = None,
        answers: Mapping[str, Any] | None = None,
        merges: Mapping[str, MergeFunction] | None = None,
        waits: Waits = AT_ONCE,
        troubles: Sequence[str | None] = (),
        observe: Callable[[FakeSession, str], None] = lambda *_: None,
    ) -> None:
        self.lake = lake if lake is not None else Lake()
        self.faults = Faults(faults)
        self.failures, self.answers, self.waits = dict(failures or {}), dict(answers or {}), waits
        self.merges = dict(merges or {})
        self.statements: list[str] = []
        """Every text that was sent."""
        self.known = {name for name, table in self.lake.tables.items() if table.location is None}
        """The tables and views of its catalog; a table with a location has to be attached first."""
        self.groups: dict[str, threading.Event] = {}
        """Of each open job group whether it was cancelled."""
        self.blocking = threading.Event()
        """Whether a statement blocks, or has."""
        self.stopped = False
        self.observe = observe
        self._counts = dict(counts or {})
        self._troubles = list(troubles)
        self._ended: str | None = None
        self._opened = 0
        self.spark = FakeSession(self, {})

    def table_format(self, name: object) -> FakeFormat:
        """Return the fake format of a name."""
        return _ICEBERG if name == "iceberg" else _FORMAT

    @contextmanager
    def session(self, confs: Mapping[str, str] | None = None) -> Iterator[FakeSession]:
        """Open a session."""
        self._opened += 1
        if self.faults.next(f"session {self._opened}")[0] is not None:
            self.die()
        self.check()
        yield FakeSession(self, confs or {})

    @contextmanager
    def job_group(self, session: FakeSession, group: str, _description: str) -> Iterator[None]:
        """What the session runs inside the block can be cancelled."""
        session.group, self.groups[group] = group, threading.Event()
        try:
            yield
        finally:
            session.group = None
            del self.groups[group]

    def cancel(self, group: str) -> None:
        """Cancel what a group runs, and what it would run next."""
        if group in self.groups:
            self.groups[group].set()

    def tasks(self, _group: str) -> tuple[int, int]:
        """Return that nothing is known of tasks."""
        return 0, 0

    def phase(self, _group: str) -> None:
        """Return that no phase is known."""

    def settled(self, _session: FakeSession) -> bool:
        """Return whether the driver goes on after a broken connection."""
        return self._ended is None

    def fate(self) -> str | None:
        """Return how the driver has ended."""
        return self._ended

    def pulse(self) -> Callable[[], str | None]:
        """Return a function that gives the troubles of the test in turn, and then fails as a driver that is gone."""
        self.check()
        return self._trouble

    def stop(self) -> None:
        """End it."""
        self.stopped = True

    def kill(self) -> None:
        """End it immediately."""
        self.die()

    def die(self) -> None:
        """Lose it in the middle of what it does."""
        self._ended = KILLED

    def check(self) -> None:
        """Raise what Py4J raises of a driver that is gone."""
        if self._ended is not None:
            raise raised("lost")

    def table(self, name: str) -> Table:
        """Return a table of the catalog. Raises AnalysisException as Spark does."""
        name = dotted(name)
        if name not in self.known or name not in self.lake.tables:
            raise missing(name)
        return self.lake.tables[name]

    def counts(self, name: str) -> Mapping[str, int]:
        """Return the rows that the statement of a model writes; empty where the test does not say."""
        return self._counts.get(name, {})

    @property
    def has_troubles(self) -> bool:
        """Whether the pulse has troubles left to return."""
        return bool(self._troubles)

    def _trouble(self) -> str | None:
        if not self._troubles:
            raise ConnectionRefusedError
        return self._troubles.pop(0)


class Starts:
    """Starts drivers for a run, one after the other; after the last one Spark does not start.

    Project(prepared, Starts(first, second)).build()
    main(["build"], Host(start=Starts(driver)))
    """

    def __init__(self, *drivers: FakeDriver, more: Callable[[], FakeDriver] | None = None) -> None:
        """Take the drivers; `more` makes others after these."""
        self._left = list(drivers)
        self._more = more

    is_own = True

    def __call__(self, _prepared: object, _events: object) -> Starts:
        """Return what starts the next driver."""
        return self

    def another(self) -> Starts:
        """Return what starts the next driver."""
        return self

    def abandon(self) -> None:
        """Leave it running."""

    def launch(self) -> None:
        """Do nothing: it is there."""

    def proceed(self) -> None:
        """Do nothing: it is there."""

    def driver(self) -> Any:
        """Return the next driver. Raises ProblemsError after the last one."""
        if self._left:
            return self._left.pop(0)
        if self._more is None:
            raise ProblemsError([Problem("spark-not-started", "Spark did not start")])
        return self._more()
