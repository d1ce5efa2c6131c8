"""An Iceberg table's snapshots, newest first.

A classic driver is asked through the JVM, which has them in its hands; the metadata table `snapshots` says the same and
costs a job. Over Spark Connect there is only SQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from merge_runner.engine.active_session import active_session
from merge_runner.engine.commit import Commit
from merge_runner.engine.failures import engine_error
from merge_runner.engine.java_class import java_class
from merge_runner.engine.statements import run_statement
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UTIL = "org.apache.iceberg.spark.Spark3Util"
SUMMARY_KEY = "merge-runner"
"""The key of a snapshot's summary that holds the stamp of its writer."""


def latest_snapshots(session: SparkSession, table: Relation, limit: int) -> Iterator[Commit]:
    """The latest snapshots of all branches, newest first, each read when it is asked for. Raises EngineError."""
    loaded = _table(session, table)
    if loaded is None:
        rows = run_statement(
            session,
            f"SELECT snapshot_id, operation, summary FROM {table}.snapshots ORDER BY committed_at DESC LIMIT {limit}",
        )
        for row in rows:
            summary = dict(row["summary"])
            yield Commit(row["snapshot_id"], row["operation"], summary.pop(SUMMARY_KEY, None), summary)
        return
    try:
        snapshots = loaded.snapshots()
        count = len(snapshots)
    except Exception as error:
        raise engine_error(error) from error
    for index in range(count - 1, max(-1, count - 1 - limit), -1):
        yield _commit(snapshots, index)


def snapshot_summary(session: SparkSession, table: Relation, snapshot_id: int) -> dict[str, str]:
    """The summary of a snapshot; empty where there is no such snapshot, or no JVM to ask. Raises EngineError."""
    loaded = _table(session, table)
    try:
        snapshot = loaded.snapshot(snapshot_id) if loaded is not None else None
        return dict(snapshot.summary()) if snapshot is not None else {}
    except Exception as error:
        raise engine_error(error) from error


def _commit(snapshots: Any, index: int) -> Commit:
    try:
        snapshot = snapshots[index]
        summary = dict(snapshot.summary())
        return Commit(int(snapshot.snapshotId()), snapshot.operation(), summary.pop(SUMMARY_KEY, None), summary)
    except Exception as error:
        raise engine_error(error) from error


def _table(session: SparkSession, table: Relation) -> Any:
    """Iceberg's own Table as it is now; None where the session has no JVM here."""
    jvm_session = getattr(session, "_jsparkSession", None)
    if jvm_session is None:
        return None
    try:
        with active_session(session):
            loaded = java_class(session, _UTIL).loadIcebergTable(jvm_session, str(table))
            loaded.refresh()
    except Exception as error:
        raise engine_error(error) from error
    return loaded
