"""A Delta table's log: its layout and its latest commits.

A classic driver is asked through the JVM: DESCRIBE DETAIL and DESCRIBE HISTORY say the same, and cost a job and a
compilation each (0.6 s and 0.3 s on a cold driver, against 0.01 s and 0.02 s). Over Spark Connect there is only SQL.
What reads the state of a table that has a checkpoint needs a current session (DELTA_SPARK_SESSION_NOT_SET, 4.4.0).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.jvm_util import active_session, java_class
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.commit_metadata import same_writer
from merge_runner.engine.table_format.delta.catalog_managed import published
from merge_runner.engine.table_format.delta.passing_files import files_passing
from merge_runner.engine.table_format.protocol import Commit, RealLayout, TableState
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


RECENT = 50
"""The search for our latest commit ends after this many commits of other writers."""
_WRITES = frozenset({"MERGE", "CREATE OR REPLACE TABLE AS SELECT", "CREATE TABLE AS SELECT"})
"""The operations that are a model's own statement."""
_ALL = 2**31 - 1
"""The largest number that LIMIT takes."""
_COMMIT_INFO = '{"commitInfo"'
_LINES = 1000
"""Lines of a commit that are fetched together, where its first one is another action."""
_DELTA_LOG = "org.apache.spark.sql.delta.DeltaLog"
_FILE_NAMES = "org.apache.spark.sql.delta.util.FileNames"
_CLUSTERING = "org.apache.spark.sql.delta.skipping.clustering"


@dataclass(frozen=True)
class LogSnapshot:
    """A version of a table, in the hands of the JVM."""

    session: SparkSession
    state: Any

    @property
    def version(self) -> int:
        return int(self.state.version())

    @property
    def table_id(self) -> str:
        """Delta's id of the table. A table that is replaced, or dropped and recreated, gets another one."""
        return str(self.state.metadata().id())

    @property
    def folder(self) -> str:
        """Where the table lies: its files are named by it."""
        return str(self.state.deltaLog().dataPath().toUri().getPath())

    @property
    def milliseconds(self) -> int:
        """When it was committed, since the epoch."""
        return int(self.state.timestamp())

    def property(self, key: str) -> str | None:
        """A property of the table as it is written in the log."""
        value = self.state.metadata().configuration().get(key)
        return str(value.get()) if value.isDefined() else None

    def files_passing(self, conditions: Sequence[str]) -> tuple[int, int]:
        """How many files the snapshot has, and how many of them pass all conditions.

        The conditions are SQL over `partitionValues` and `stats`. Raises EngineError.
        """
        return files_passing(self.session, self.state, conditions)


def latest_commits(session: SparkSession, table: Relation, limit: int) -> Iterator[Commit]:
    """The latest commits, newest first, each read when it is asked for.

    Raises EngineError, `catalog-managed` where files of commits may be missing.
    """
    log = _log(session, table)
    if log is None:
        for row in run_statement(session, f"DESCRIBE HISTORY {table} LIMIT {limit}"):
            metrics, at = row["operationMetrics"] or {}, int(row["timestamp"].timestamp() * 1000)
            yield Commit(row["version"], row["operation"], row["userMetadata"], metrics, at)
        return
    newest = int(published(log.unsafeVolatileSnapshot(), table).version())
    for version in range(newest, max(-1, newest - limit), -1):
        yield _commit(session, log, version)


def earlier_states(session: SparkSession, table: Relation) -> Iterator[Commit]:
    """All versions of a table that are still known, newest first, with the time since when. Raises EngineError."""
    yield from latest_commits(session, table, _ALL)


def commit_texts(session: SparkSession, table: Relation) -> Iterator[tuple[int, str]]:
    """Yield all versions of a table with the texts of their commits, newest first.

    Raises EngineError, `catalog-managed` where files of commits may be missing.
    """
    current = _log_and_snapshot(session, table)
    if current is None:
        return
    log = current._1()
    for version in range(int(published(current._2(), table).version()), -1, -1):
        with engine_errors():
            path = java_class(session, _FILE_NAMES).unsafeDeltaFile(log.logPath(), version)
            text = str(log.store().read(path, log.newDeltaHadoopConf()).mkString("\n"))
        yield version, text


def statement_commit(session: SparkSession, table: Relation, stamp: str) -> Commit | None:
    """The newest commit of a statement that carries the stamp; None where there is none. Raises EngineError."""
    commits = (commit for commit in latest_commits(session, table, RECENT) if commit.operation in _WRITES)
    return next((commit for commit in commits if same_writer(commit.stamp, stamp)), None)


def maintained_version(session: SparkSession, table: Relation, stamp: str) -> int | None:
    """The newest version of a table that carries a stamp `of_maintenance`; None without one. Raises EngineError."""
    commits = latest_commits(session, table, RECENT)
    return next((commit.version for commit in commits if same_writer(commit.stamp, stamp)), None)


def table_layout(session: SparkSession, table: Relation) -> RealLayout:
    """The layout of a table as its log has it. Raises EngineError."""
    log = _log(session, table)
    if log is None:
        row = run_statement(session, f"DESCRIBE DETAIL {table}")[0]
        columns = (tuple(row["partitionColumns"]), tuple(row["clusteringColumns"]))
        return RealLayout(*columns, row["properties"], comment=row["description"] or "")
    with engine_errors():
        snapshot = log.unsafeVolatileSnapshot()
        metadata = snapshot.metadata()
        with active_session(session):
            clustering = _clustering(session, snapshot)
        return RealLayout(
            tuple(_items(metadata.partitionColumns())),
            clustering,
            {str(pair._1()): str(pair._2()) for pair in _items(metadata.configuration().toSeq())},
            comment=str(metadata.description() or ""),
        )


def protocol_properties(session: SparkSession, table: Relation) -> Mapping[str, str]:
    """The protocol of a table, as the properties by which it is asked for. Raises EngineError."""
    log = _log(session, table)
    if log is None:
        row = run_statement(session, f"DESCRIBE DETAIL {table}")[0]
        reader, writer, features = row["minReaderVersion"], row["minWriterVersion"], row["tableFeatures"]
    else:
        with engine_errors():
            real = log.unsafeVolatileSnapshot().protocol()
            reader, writer = real.minReaderVersion(), real.minWriterVersion()
            features = filter(None, str(real.readerAndWriterFeatureNames().mkString(",")).split(","))
    versions = {"delta.minReaderVersion": str(reader), "delta.minWriterVersion": str(writer)}
    return versions | {f"delta.feature.{name}": "supported" for name in features}


def schema_fields(session: SparkSession, table: Relation) -> list[dict[str, Any]] | None:
    """The columns of a table as the log has them (Spark's JSON of a StructType); None over Spark Connect.

    Spark's own description of them leaves out how they are generated. Raises EngineError.
    """
    log = _log(session, table)
    if log is None:
        return None
    with engine_errors():
        schema = json.loads(log.unsafeVolatileSnapshot().metadata().schemaString())
    return list(schema["fields"])


def snapshot(session: SparkSession, table: Relation, version: int | None = None) -> LogSnapshot | None:
    """The table as it is now, other processes' commits included, or as of a version.

    None where its log cannot be asked from here. Raises EngineError.
    """
    current = _log_and_snapshot(session, table)
    if current is None or version is None:
        return LogSnapshot(session, current._2()) if current is not None else None
    with engine_errors(), active_session(session):
        log = current._1()
        no_hint, no_table = getattr(log, "getSnapshotAt$default$2")(), getattr(log, "getSnapshotAt$default$3")()
        options = internals().delta_snapshot_options
        return LogSnapshot(session, log.getSnapshotAt(version, no_hint, no_table, *options))


def table_state(session: SparkSession, table: Relation) -> TableState:
    """The newest state of a table, other processes' commits included. Raises EngineError."""
    current = _log_and_snapshot(session, table)
    if current is None:
        version = run_statement(session, f"DESCRIBE HISTORY {table} LIMIT 1")[0]["version"]
        detail = run_statement(session, f"DESCRIBE DETAIL {table}")[0]
        return TableState(int(version), int(detail["numFiles"]), int(detail["sizeInBytes"]))
    with engine_errors():
        state = current._2()
        with active_session(session):
            checksum = state.checksumOpt()
            if checksum.isDefined():  # else, and also for `numOfFilesIfKnown`, jobs compute the state: a second (4.4.0)
                files, size = checksum.get().numFiles(), checksum.get().tableSizeBytes()
            else:
                files, size = state.numOfFiles(), state.sizeInBytes()
            return TableState(int(state.version()), int(files), int(size))


def _log(session: SparkSession, table: Relation) -> Any:
    """Delta's own DeltaLog of a table, as this process has it; None where the session has no JVM here."""
    return _asked_of_jvm(session, table, "forTable")


def _log_and_snapshot(session: SparkSession, table: Relation) -> Any:
    """The same in a pair with the newest snapshot: the log of the table is listed for it."""
    return _asked_of_jvm(session, table, "forTableWithSnapshot")


def _asked_of_jvm(session: SparkSession, table: Relation, method: str) -> Any:
    jvm_session = getattr(session, "_jsparkSession", None)
    if jvm_session is None:
        return None
    with engine_errors():
        identifier = jvm_session.sessionState().sqlParser().parseTableIdentifier(str(table))
        with active_session(session):
            return getattr(java_class(session, _DELTA_LOG), method)(jvm_session, identifier)


def _commit(session: SparkSession, log: Any, version: int) -> Commit:
    """A commit from its file of the log, whose lines are JSON actions; one of them is `commitInfo`."""
    with engine_errors():
        path = java_class(session, _FILE_NAMES).unsafeDeltaFile(log.logPath(), version)
        lines = log.store().readAsIterator(path, log.newDeltaHadoopConf())
        try:
            info = _commit_info(lines)
        finally:
            lines.close()
    metrics, at = info.get("operationMetrics") or {}, info.get("inCommitTimestamp", info.get("timestamp"))
    return Commit(version, info.get("operation", ""), info.get("userMetadata"), metrics, at)


def _commit_info(lines: Any) -> dict[str, Any]:
    """The `commitInfo` of a commit; empty where it has none.

    Delta writes it first, and there may be a line for each of a million files: no more of them are fetched than needed.
    """
    fetched = 1
    while lines.hasNext():
        for line in str(lines.take(fetched).mkString("\n")).split("\n"):
            if line.startswith(_COMMIT_INFO):
                info: dict[str, Any] = json.loads(line)["commitInfo"]
                return info
        fetched = _LINES
    return {}


def _clustering(session: SparkSession, snapshot: Any) -> tuple[str, ...]:
    """Clustering columns as people name them: with column mapping the log has physical names."""
    utils = java_class(session, f"{_CLUSTERING}.ClusteredTableUtils")
    # The protocol says whether there are any; only the state, which takes a job to compute, says which ones.
    columns = utils.getClusteringColumnsOptional(snapshot) if utils.isSupported(snapshot.protocol()) else None
    if columns is None or not columns.isDefined():
        return ()
    info = java_class(session, f"{_CLUSTERING}.ClusteringColumnInfo")
    columns_of_log = [info.apply(snapshot.schema(), column) for column in _items(columns.get())]
    return tuple(str(column.logicalName()) for column in columns_of_log)


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]
