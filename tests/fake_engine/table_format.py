"""The table format of the fake driver: what the product asks of a table's log, answered from the lake.

It has the name and the capabilities of Delta, or of Iceberg, and Delta's confs for stamps and batches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from merge_runner.engine.response import Compaction, MergeFigures
from merge_runner.engine.spark.errors import engine_error
from merge_runner.engine.spark.sql import temporary_confs
from merge_runner.engine.table_format.commit_metadata import same_writer, stamp_confs
from merge_runner.engine.table_format.delta.batches import batch_confs
from merge_runner.engine.table_format.delta.commit_figures import commit_figures
from merge_runner.engine.table_format.delta.first_run import is_built_in, wrote_rows
from merge_runner.engine.table_format.delta.stored_metadata import stored_metadata
from merge_runner.engine.table_format.delta.stored_version import stored_versions, versions
from merge_runner.engine.table_format.protocol import (
    Commit,
    RealColumn,
    RealLayout,
    ScanSize,
    TableState,
    VacuumResult,
    no_changes,
)
from merge_runner.formats import Format
from merge_runner.formats.delta.capabilities import DELTA
from merge_runner.formats.iceberg.capabilities import ICEBERG
from tests.fake_engine.branches import FakeBranches
from tests.fake_engine.faults import raised
from tests.fake_engine.lake import CREATE, MERGE, REPLACE, REPLACE_AS, Table, dotted
from tests.fake_engine.statements import properties

if TYPE_CHECKING:
    from merge_runner.engine.spark.sql import StatementResult
    from merge_runner.relation import Relation
    from tests.fake_engine.session import FakeSession

_FILES = 4
"""Files of a table that has rows; a MERGE scans them all."""


class FakeSnapshot:
    """A version of a table."""

    folder, milliseconds = "", 0

    def __init__(self, table: Table, version: int) -> None:
        self.table = table
        self.table_id = table.id
        self.version = version

    def property(self, key: str) -> str | None:
        """Return a property of the table."""
        return properties(self.table).get(key)

    def files_passing(self, _conditions: Sequence[str]) -> tuple[int, int]:
        """Return that every file passes."""
        return _FILES, _FILES


class FakeFormat:
    """A table format whose tables are in memory."""

    name: Format = "delta"
    capabilities = DELTA
    quick_read_confs: Mapping[str, str] = {}
    replaced_rows_metric = "numOutputRows"
    batch_confs = staticmethod(batch_confs)
    is_built_in = staticmethod(is_built_in)
    stored_versions = staticmethod(stored_versions)
    versions = staticmethod(versions)
    commit_figures = staticmethod(commit_figures)
    stored_metadata = staticmethod(stored_metadata)

    def layout(self, session: FakeSession, table: Relation) -> RealLayout:
        """Return the layout that the table was created with."""
        found = _read(session, table)
        lists = (
            tuple(item.strip(" `") for item in found.clauses.get(key, "").split(",") if item)
            for key in ("partition_by", "cluster_by")
        )
        return RealLayout(*lists, properties(found), comment=found.clauses.get("comment", ""))

    def protocol_properties(self, session: FakeSession, table: Relation) -> Mapping[str, str]:
        """Return nothing: no feature is on."""
        _read(session, table)
        return {}

    def columns(self, session: FakeSession, table: Relation) -> Mapping[str, RealColumn]:
        """Return the columns, all of them nullable."""
        return {name.casefold(): RealColumn(True, None, None) for name in _read(session, table).columns}

    def state(self, session: FakeSession, table: Relation) -> TableState:
        """Return the newest state."""
        found = _read(session, table)
        files = _FILES if found.rows else 0
        return TableState(found.version, files, files << 10)

    def snapshot(self, session: FakeSession, table: Relation, version: int | None = None) -> FakeSnapshot:
        """Return the table as of a version."""
        found = _read(session, table)
        return FakeSnapshot(found, found.version if version is None else version)

    def commits(self, session: FakeSession, table: Relation, limit: int) -> Iterator[Commit]:
        """Yield the latest commits, newest first."""
        yield from _read(session, table, "commits").commits[: -limit - 1 : -1]

    def commit_with(self, session: FakeSession, table: Relation, stamp: str) -> Commit | None:
        """Return the newest commit of a statement that carries the stamp; of Iceberg any change of rows is one."""
        others = (CREATE, REPLACE) if self.name == "iceberg" else None
        commits = reversed(_read(session, table, "commits").commits)
        return next(
            (
                one
                for one in commits
                if (one.operation not in others if others else one.operation in (MERGE, REPLACE_AS))
                and same_writer(one.stamp, stamp)
            ),
            None,
        )

    def recorded_batches(
        self, session: FakeSession, table: Relation, prefix: str, version: int | None = None
    ) -> Mapping[str, int]:
        """Return the highest batches."""
        found, lake = _read(session, table, "commits"), session.driver.lake
        recorded = {app: lake.recorded(found, app, version) for app in found.batches if app.startswith(prefix)}
        return {app: batch for app, batch in recorded.items() if batch is not None}

    def merge_figures(self, session: FakeSession, table: Relation, stamp: str, ran: StatementResult) -> MergeFigures:
        """Return the rows that the MERGE reported, and that it has scanned every file."""
        commit = self.commit_with(session, table, stamp)
        counted: dict[str, Any] = ran.rows[0].asDict()
        figures = {
            f"rows_{kind}": counted[f"num_{kind}_rows"] for kind in ("affected", "inserted", "updated", "deleted")
        }
        files = _FILES if counted["num_updated_rows"] or counted["num_deleted_rows"] else 0
        return MergeFigures.of(
            {
                **figures,
                "files_total": files,
                "files_scanned": files,
                "bytes_scanned": files << 10,
                "table_version": commit.version if commit else None,
            },
            {},
        )

    def columns_after(self, *_: object) -> Sequence[Any]:
        """Return that schema evolution changes nothing."""
        return ()

    def target_files(self, _session: FakeSession, _merge: object, whole: TableState, _notes: list[str]) -> ScanSize:
        """Return that a MERGE reads every file."""
        return ScanSize(whole.files, whole.bytes)

    def shuffles(self, *_: object) -> None:
        """Return that a plan does not show them."""

    @contextmanager
    def unshared_files(self, session: FakeSession, left: Any, right: Any, names: tuple[str, str]) -> Iterator[None]:
        """Yield that the files of a lake's tables are not known."""
        yield None

    def optimize(self, session: FakeSession, step: Any, stamp: str) -> Compaction:
        """Compact all files into one, in a commit with the stamp."""
        with temporary_confs(session, stamp_confs(stamp)):
            version = session.sql(f"OPTIMIZE {step.layout.relation}").collect()[0]["version"]
        return Compaction(
            files_added=1,
            files_removed=_FILES,
            bytes_added=1 << 10,
            bytes_removed=_FILES << 10,
            table_version=version,
            metrics={},
        )

    def vacuum(self, session: FakeSession, table: Relation, _retain: float, _stamp: str) -> VacuumResult:
        """Delete nothing."""
        _read(session, table)
        return VacuumResult(0)

    def is_built(self, session: FakeSession, table: Relation, others: Collection[str]) -> bool:
        """Return whether a statement of a node has written rows."""
        return wrote_rows(reversed(_read(session, table, "commits").commits), others)

    def merges_since_compaction(self, session: FakeSession, table: Relation, limit: int) -> Iterator[bool]:
        """Yield whether each commit since the last OPTIMIZE is a MERGE."""
        for commit in _read(session, table, "commits").commits[: -limit - 1 : -1]:
            if commit.operation in ("OPTIMIZE", "CREATE TABLE"):
                return
            yield commit.operation == MERGE

    def changes(
        self, _session: FakeSession, table: Relation, _since: int | None, _key: Sequence[str]
    ) -> AbstractContextManager[str]:
        """Return a relation without changes."""

        @contextmanager
        def none() -> Iterator[str]:
            yield no_changes(table)

        return none()


class FakeIceberg(FakeFormat):
    """The same with Iceberg's name and capabilities, and with branches."""

    name: Format = "iceberg"
    capabilities = ICEBERG
    branches = FakeBranches()


def _read(session: FakeSession, table: Relation, what: str = "layout") -> Table:
    """The table; the faults of its place happen."""
    session.driver.check()
    found = session.seen(session.driver.lake.tables[dotted(str(table))])
    fault, _ = session.driver.faults.next(f"{what} of {found.short}")
    if fault is not None:
        raise engine_error(raised(fault))
    return found
