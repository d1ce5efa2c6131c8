"""A session: its confs, its view of the catalog, and `sql`, which runs a statement and has faults happen."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from merge_runner.formats.branches import CONF
from tests.fake_engine.faults import raised
from tests.fake_engine.lake import Table, dotted
from tests.fake_engine.statements import Statement, UnknownStatementError, understood

if TYPE_CHECKING:
    from tests.fake_engine.driver import FakeDriver

_LONGEST_BLOCK = 30.0
"""Seconds after which a statement that nothing cancels is an error of the test."""


class Row(dict[str, Any]):
    """A row with PySpark's ways to read it."""

    def __getitem__(self, key: Any) -> Any:
        return list(self.values())[key] if isinstance(key, int | slice) else super().__getitem__(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())

    def asDict(self) -> dict[str, Any]:  # noqa: N802  # PySpark's name
        """Return the values by column."""
        return dict(self.items())


class DataType(str):
    """A type of Spark by its name."""

    __slots__ = ()

    def simpleString(self) -> str:  # noqa: N802  # PySpark's name
        """Return its name."""
        return str(self)


@dataclass(frozen=True)
class Schema:
    """The columns of a statement."""

    names: list[str]
    fields: list[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fields)


@dataclass(frozen=True)
class Frame:
    """What `sql` returns: the rows, and the columns where the statement has some."""

    rows: Sequence[Row] = ()
    columns_by_type: Mapping[str, str] | None = None

    def collect(self) -> list[Row]:
        """Return the rows."""
        return list(self.rows)

    @property
    def schema(self) -> Any:
        """The columns, as far as the product reads them."""
        found = self.columns_by_type or dict.fromkeys(self.rows[0].keys() if self.rows else (), "string")
        fields = [
            SimpleNamespace(name=name, dataType=DataType(text), nullable=True, metadata={})
            for name, text in found.items()
        ]
        return Schema(list(found), fields)

    def persist(self, *_level: object) -> Frame:
        """Keep nothing: what reads it is not run."""
        return self

    unpersist = persist

    def localCheckpoint(self) -> Frame:  # noqa: N802  # PySpark's name
        """Compute nothing: what reads the rows is not run."""
        return self

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def createOrReplaceTempView(self, _name: str) -> None:  # noqa: N802  # PySpark's name
        """Take the rows as a view: what reads it is not run."""


class Conf:
    """The confs of a session."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def set(self, key: str, value: str) -> None:
        """Set a conf."""
        self._values[key] = value

    def unset(self, key: str) -> None:
        """Remove a conf."""
        self._values.pop(key, None)

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return a conf."""
        return self._values.get(key, default)


class FakeSession:
    """A session of a driver. What it does not understand raises UnknownStatementError, which fails the test."""

    def __init__(self, driver: FakeDriver, confs: Mapping[str, str]) -> None:
        self.driver = driver
        self.conf = Conf(confs)
        self.catalog = SimpleNamespace(tableExists=self._exists, dropTempView=lambda _name: True)
        self.group: str | None = None
        """The job group that its statements belong to."""

    def sql(self, text: str) -> Frame:
        """Run a statement. Raises what PySpark, Py4J and Delta raise."""
        self.driver.check()
        self.driver.statements.append(text)
        self.driver.observe(self, text)
        statement = understood(text, self)
        fault, after = self.driver.faults.next(statement.place) if statement.place else (None, False)
        if fault is None:
            fault, after = self.driver.faults.next_of_text(text)
        if self._cancelled().is_set():
            raise raised("cancelled")
        if fault is None:
            return statement.run()
        if after:
            statement.run()
        raise self.fails(fault, statement)

    def table(self, name: str) -> Frame:
        """Return a table, of which the columns alone can be asked for."""
        self.driver.check()
        return Frame((), self.driver.table(name).columns)

    def found(self, name: str) -> Table:
        """Return a table, or the branch of it that a statement or the session names. Raises AnalysisException."""
        main, _, last = dotted(name).rpartition(".")
        if last.startswith("branch_"):
            return self.driver.table(main).branches[last.removeprefix("branch_")]
        return self.seen(self.driver.table(name))

    @property
    def read(self) -> Any:
        """Return a reader of files; what a query over them gives is an answer of the driver."""
        view = SimpleNamespace(createOrReplaceTempView=lambda _name: None)
        return SimpleNamespace(schema=lambda _columns: SimpleNamespace(parquet=lambda *_paths: view))

    def seen(self, table: Table) -> Table:
        """Return what the session reads of a table: its branch, or main."""
        return table.branches.get(self.conf.get(CONF) or "", table)

    def createDataFrame(self, rows: Sequence[Any], _schema: str) -> Frame:  # noqa: N802  # PySpark's name
        """Return rows of Python values."""
        return Frame([Row(enumerate(row)) for row in rows])

    def fails(self, fault: str, statement: Statement) -> Exception:
        """Have a fault happen, and return what is raised then."""
        if fault == "conflict" and statement.table is not None:
            self.driver.lake.commit(statement.table, "WRITE")
        if fault == "lost":
            self.driver.die()
        if fault == "interrupts":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # where a terminal's Ctrl-C arrives
        if fault == "fails later":
            return self._wait(self.driver.blocking) or raised("fails")
        if fault in ("blocks", "interrupts"):
            self.driver.blocking.set()
            return self._wait(self._cancelled()) or raised("cancelled")
        return raised(fault)

    def _wait(self, event: threading.Event) -> None:
        if not event.wait(_LONGEST_BLOCK):
            raise UnknownStatementError("a statement that blocks for ever")

    def _cancelled(self) -> threading.Event:
        return self.driver.groups.get(self.group or "", threading.Event())

    def _exists(self, name: str) -> bool:
        self.driver.check()
        return dotted(name) in self.driver.known
