"""An Iceberg table's branches, and the snapshots that its present rows come from, newest first.

A classic driver is asked through the JVM, which has them in its hands; the metadata tables say the same and cost jobs.
Over Spark Connect there is only SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import active_session, java_class
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.commit_metadata import same_writer
from merge_runner.engine.table_format.protocol import Commit, TableState
from merge_runner.formats.branches import CONF, MAIN, PROPERTY
from merge_runner.formats.iceberg.capabilities import SUMMARY_KEY
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import Row, SparkSession

_UTIL = "org.apache.iceberg.spark.Spark3Util"
_PARSER = "org.apache.iceberg.TableMetadataParser"
_BASE_TABLE = "org.apache.iceberg.BaseTable"
"""The class of a table of which its metadata says which rows it has."""
_OF_NESSIE = "nessie.commit.id"
"""A property that Nessie adds to each table that it gives a client."""
RECENT = 50
"""The search for our latest snapshot ends after this many snapshots of other writers."""


@dataclass(frozen=True)
class Branches:
    """The branches of a table: the id of each one's newest snapshot; `main` is missing where it has none yet.

    `isolated`: a session that is set to a branch writes that one, and reads it where it exists.
    """

    heads: Mapping[str, int]
    isolated: bool

    def read_by(self, session: SparkSession) -> str:
        """The branch that a session reads."""
        own = session.conf.get(CONF, None)
        return own if own is not None and self.isolated and own in self.heads else MAIN


def branches(session: SparkSession, table: Relation) -> Branches:
    """The branches of a table as they are now. Raises EngineError."""
    iceberg_table = load_table(session, table)
    if iceberg_table is None:
        refs = run_statement(session, f"SELECT name, snapshot_id FROM {table}.refs WHERE type = 'BRANCH'")
        properties = {row["key"]: row["value"] for row in run_statement(session, f"SHOW TBLPROPERTIES {table}")}
        return Branches({row["name"]: row["snapshot_id"] for row in refs}, _is_true(properties.get(PROPERTY)))
    return _branches(iceberg_table)


def latest_snapshots(session: SparkSession, table: Relation, limit: int) -> Iterator[Commit]:
    """The snapshots that what the session reads of a table comes from, newest first, each read when it is asked for.

    These are the snapshots of its branch, or of main: what was rolled back, and what another branch holds, is not in
    the table for it. Raises EngineError.
    """
    yield from _snapshots(session, table, load_table(session, table), limit)


def _snapshots(session: SparkSession, table: Relation, iceberg_table: Any, limit: int) -> Iterator[Commit]:
    """Yield the same of a table that is loaded; with None by SQL."""
    if iceberg_table is None:
        yield from _read_by_sql(session, table, limit)
        return
    with engine_errors():
        snapshot = iceberg_table.snapshot(_branches(iceberg_table).read_by(session))
        while snapshot is not None and limit:
            limit -= 1
            summary = dict(snapshot.summary())
            stamp, at = summary.pop(SUMMARY_KEY, None), int(snapshot.timestampMillis())
            yield Commit(int(snapshot.snapshotId()), snapshot.operation(), stamp, summary, at)
            parent = snapshot.parentId()
            snapshot = (
                iceberg_table.snapshot(parent) if parent is not None else None
            )  # None as well where it has expired


def statement_snapshot(session: SparkSession, table: Relation, stamp: str) -> Commit | None:
    """The newest snapshot of a statement that carries the stamp, and that what the session reads comes from.

    None where there is none. Raises EngineError.
    """
    # Rewriting files changes no row; procedures may carry a session's properties as well.
    snapshots = (snapshot for snapshot in latest_snapshots(session, table, RECENT) if snapshot.operation != "replace")
    return next((snapshot for snapshot in snapshots if same_writer(snapshot.stamp, stamp)), None)


def keeps_snapshots(session: SparkSession, table: Relation) -> bool:
    """Return whether the catalog keeps the snapshots before the newest one. Raises EngineError.

    Nessie (0.99.0) gives clients the newest one alone, without its parent: its history is a separate one.
    """
    iceberg_table = load_table(session, table)
    if iceberg_table is not None:
        with engine_errors():
            return not iceberg_table.properties().containsKey(_OF_NESSIE)
    return _OF_NESSIE not in {row["key"] for row in run_statement(session, f"SHOW TBLPROPERTIES {table}")}


def table_state(session: SparkSession, table: Relation) -> TableState:
    """The newest state of a table as the session reads it, other processes' commits included. Raises EngineError."""
    iceberg_table = load_table(session, table)
    head = next(_snapshots(session, table, iceberg_table, 1), None)
    if head is None:
        return TableState(None, 0, 0)
    files, size = (int(head.metrics.get(key, 0)) for key in ("total-data-files", "total-files-size"))
    return TableState(head.version, files, size, _has_present_columns(iceberg_table, head.version))


def _has_present_columns(iceberg_table: Any, version: int) -> bool:
    """Return whether a snapshot is known to have the table's columns: ALTER TABLE makes no snapshot of its own.

    `VERSION AS OF` reads the columns of the snapshot: renamed ones by their old names, dropped ones with their values.
    """
    if iceberg_table is None:
        return False  # no metadata table has the schema of a table
    with engine_errors():
        return bool(iceberg_table.snapshot(version).schemaId() == iceberg_table.schema().schemaId())


def metadata_text(session: SparkSession, table: Relation) -> str | None:
    """Return the metadata of a table as its file has it; None over Spark Connect.

    None as well for a table whose scans the catalog plans (`scan-planning-mode: server`): it may hide rows from some
    users, and show them later, without a commit. Raises EngineError.
    """
    iceberg_table = load_table(session, table)
    if iceberg_table is None:
        return None
    with engine_errors():
        if iceberg_table.getClass().getName() != _BASE_TABLE:
            return None
        return str(java_class(session, _PARSER).toJson(iceberg_table.operations().current()))


def ancestry(session: SparkSession, table: Relation, head: int | None) -> list[int]:
    """Return the ids of a snapshot and of its ancestors that have not expired, newest first.

    Raises EngineError.
    """
    rows = run_statement(session, f"SELECT snapshot_id, parent_id FROM {table}.snapshots")
    parents = {row["snapshot_id"]: row["parent_id"] for row in rows}
    ids = []
    while head is not None and head in parents:
        ids.append(head)
        head = parents[head]
    return ids


def snapshot_summary(session: SparkSession, table: Relation, snapshot_id: int) -> dict[str, str]:
    """The summary of a snapshot; empty where there is no such snapshot, or no JVM to ask. Raises EngineError."""
    iceberg_table = load_table(session, table)
    with engine_errors():
        snapshot = iceberg_table.snapshot(snapshot_id) if iceberg_table is not None else None
        return dict(snapshot.summary()) if snapshot is not None else {}


def _read_by_sql(session: SparkSession, table: Relation, limit: int) -> Iterator[Commit]:
    refs_of_table = branches(session, table)
    ids = ancestry(session, table, refs_of_table.heads.get(refs_of_table.read_by(session)))[:limit]
    if not ids:
        return
    id_list = ", ".join(str(snapshot_id) for snapshot_id in ids)
    rows = run_statement(
        session,
        f"SELECT snapshot_id, operation, summary, committed_at FROM {table}.snapshots WHERE snapshot_id IN ({id_list})",
    )
    for row in sorted(rows, key=lambda row: ids.index(row["snapshot_id"])):
        yield _commit(row, row["committed_at"])


def earlier_states(session: SparkSession, table: Relation) -> Iterator[Commit]:
    """The snapshots that main was at, newest first, each with the time since when.

    Those of a table that was replaced are no ancestors of the snapshots after it. Raises EngineError.
    """
    history = f"SELECT snapshot_id, made_current_at FROM {table}.history"
    snapshots = f"SELECT snapshot_id, operation, summary FROM {table}.snapshots"
    statement = f"SELECT * FROM ({history}) JOIN ({snapshots}) USING (snapshot_id) ORDER BY made_current_at DESC"
    for row in run_statement(session, statement):
        yield _commit(row, row["made_current_at"])


def _commit(row: Row, at: datetime) -> Commit:
    summary = dict(row["summary"])
    stamp = summary.pop(SUMMARY_KEY, None)
    return Commit(row["snapshot_id"], row["operation"], stamp, summary, int(at.timestamp() * 1000))


def _branches(iceberg_table: Any) -> Branches:
    with engine_errors():
        refs = dict(iceberg_table.refs())
        heads = {str(name): int(ref.snapshotId()) for name, ref in refs.items() if ref.isBranch()}
        return Branches(heads, _is_true(iceberg_table.properties().get(PROPERTY)))


def _is_true(value: str | None) -> bool:
    return value is not None and value.lower() == "true"


def load_table(session: SparkSession, table: Relation) -> Any:
    """Iceberg's own Table as it is now; None where the session has no JVM here."""
    jvm_session = getattr(session, "_jsparkSession", None)
    if jvm_session is None:
        return None
    with engine_errors(), active_session(session):
        iceberg_table = java_class(session, _UTIL).loadIcebergTable(jvm_session, str(table))
        iceberg_table.refresh()
    return iceberg_table
