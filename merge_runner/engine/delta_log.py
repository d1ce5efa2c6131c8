"""A Delta table's log: its layout and its latest commits.

A classic driver is asked through the JVM: DESCRIBE DETAIL and DESCRIBE HISTORY say the same, and cost a job and a
compilation each (0.6 s and 0.3 s on a cold driver, against 0.01 s and 0.02 s). Over Spark Connect there is only SQL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.engine.commit import Commit
from merge_runner.engine.failures import engine_error
from merge_runner.engine.java_class import java_class
from merge_runner.engine.statements import run_statement
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_GENERATED = "delta.generationExpression"
_DELTA_LOG = "org.apache.spark.sql.delta.DeltaLog"
_FILE_NAMES = "org.apache.spark.sql.delta.util.FileNames"
_CLUSTERING = "org.apache.spark.sql.delta.skipping.clustering"


@dataclass(frozen=True)
class RealLayout:
    """How a table is laid out: partition and clustering columns, properties, and the sort order of an Iceberg table."""

    partition_by: tuple[str, ...]
    cluster_by: tuple[str, ...]
    properties: Mapping[str, str]
    sort_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """A version of a table, in the hands of the JVM."""

    session: SparkSession
    state: Any


def latest_commits(session: SparkSession, table: Relation, limit: int) -> Iterator[Commit]:
    """The latest commits, newest first, each read when it is asked for. Raises EngineError."""
    log = _log(session, table)
    if log is None:
        for row in run_statement(session, f"DESCRIBE HISTORY {table} LIMIT {limit}"):
            yield Commit(row["version"], row["operation"], row["userMetadata"], row["operationMetrics"] or {})
        return
    newest = int(log.unsafeVolatileSnapshot().version())
    for version in range(newest, max(-1, newest - limit), -1):
        yield _commit(session, log, version)


def real_layout(session: SparkSession, table: Relation) -> RealLayout:
    """The layout of a table as its log has it. Raises EngineError."""
    log = _log(session, table)
    if log is None:
        row = run_statement(session, f"DESCRIBE DETAIL {table}")[0]
        return RealLayout(tuple(row["partitionColumns"]), tuple(row["clusteringColumns"]), row["properties"])
    try:
        snapshot = log.unsafeVolatileSnapshot()
        metadata = snapshot.metadata()
        return RealLayout(
            tuple(_items(metadata.partitionColumns())),
            _clustering(session, snapshot),
            {str(pair._1()): str(pair._2()) for pair in _items(metadata.configuration().toSeq())},
        )
    except Exception as error:
        raise engine_error(error) from error


def protocol(session: SparkSession, table: Relation) -> Mapping[str, str]:
    """The protocol of a table, as the properties by which it is asked for. Raises EngineError."""
    log = _log(session, table)
    if log is None:
        row = run_statement(session, f"DESCRIBE DETAIL {table}")[0]
        reader, writer, features = row["minReaderVersion"], row["minWriterVersion"], row["tableFeatures"]
    else:
        try:
            real = log.unsafeVolatileSnapshot().protocol()
            reader, writer = real.minReaderVersion(), real.minWriterVersion()
            features = filter(None, str(real.readerAndWriterFeatureNames().mkString(",")).split(","))
        except Exception as error:
            raise engine_error(error) from error
    versions = {"delta.minReaderVersion": str(reader), "delta.minWriterVersion": str(writer)}
    return versions | {f"delta.feature.{name}": "supported" for name in features}


def generated_columns(session: SparkSession, table: Relation) -> Mapping[str, str]:
    """The expressions of a table's generated columns; none over Spark Connect. Raises EngineError."""
    log = _log(session, table)
    if log is None:
        return {}
    try:
        schema = json.loads(log.unsafeVolatileSnapshot().metadata().schemaString())
    except Exception as error:
        raise engine_error(error) from error
    told = ((field["name"], field.get("metadata", {}).get(_GENERATED)) for field in schema["fields"])
    return {name: expression for name, expression in told if expression is not None}


def snapshot(session: SparkSession, table: Relation) -> Snapshot | None:
    """The table as it is now; None where its log cannot be asked from here. Raises EngineError."""
    log = _log(session, table)
    return Snapshot(session, log.unsafeVolatileSnapshot()) if log is not None else None


def delta_state(session: SparkSession, table: Relation) -> tuple[int, int, int]:
    """Version, number of files and bytes of the newest version of a table. Raises EngineError."""
    jvm_session = getattr(session, "_jsparkSession", None)
    if jvm_session is None:
        version = run_statement(session, f"DESCRIBE HISTORY {table} LIMIT 1")[0]["version"]
        detail = run_statement(session, f"DESCRIBE DETAIL {table}")[0]
        return int(version), int(detail["numFiles"]), int(detail["sizeInBytes"])
    try:
        identifier = jvm_session.sessionState().sqlParser().parseTableIdentifier(str(table))
        state = java_class(session, _DELTA_LOG).forTableWithSnapshot(jvm_session, identifier)._2()
        return int(state.version()), int(state.numOfFiles()), int(state.sizeInBytes())
    except Exception as error:
        raise engine_error(error) from error


def files_passing(before: Snapshot | None, conditions: Sequence[str]) -> tuple[int, int] | None:
    """How many files a snapshot has, and how many of them pass all conditions; None without a snapshot.

    The conditions are SQL over `partitionValues` and `stats`. Raises EngineError.
    """
    if before is None:
        return None
    from pyspark.sql import DataFrame

    both = " AND ".join(f"({condition}\n)" for condition in conditions)
    try:
        files = DataFrame(before.state.allFiles().toDF(), before.session)
        row = files.selectExpr("count(*)", f"count_if({both})").collect()[0]
    except Exception as error:
        raise engine_error(error) from error
    return int(row[0]), int(row[1])


def _log(session: SparkSession, table: Relation) -> Any:
    """Delta's own DeltaLog of a table; None where the session has no JVM here."""
    jvm_session = getattr(session, "_jsparkSession", None)
    if jvm_session is None:
        return None
    try:
        identifier = jvm_session.sessionState().sqlParser().parseTableIdentifier(str(table))
        return java_class(session, _DELTA_LOG).forTable(jvm_session, identifier)
    except Exception as error:
        raise engine_error(error) from error


def _commit(session: SparkSession, log: Any, version: int) -> Commit:
    """A commit from its file of the log, whose lines are JSON actions; one of them is `commitInfo`."""
    try:
        path = java_class(session, _FILE_NAMES).unsafeDeltaFile(log.logPath(), version)
        actions = [json.loads(line) for line in _items(log.store().read(path, log.newDeltaHadoopConf()))]
    except Exception as error:
        raise engine_error(error) from error
    info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    return Commit(version, info.get("operation", ""), info.get("userMetadata"), info.get("operationMetrics") or {})


def _clustering(session: SparkSession, snapshot: Any) -> tuple[str, ...]:
    """Clustering columns as people name them: with column mapping the log has physical names."""
    utils = java_class(session, f"{_CLUSTERING}.ClusteredTableUtils")
    # Whether there are any stands in the protocol; which ones, only in the state, which takes a job to compute.
    columns = utils.getClusteringColumnsOptional(snapshot) if utils.isSupported(snapshot.protocol()) else None
    if columns is None or not columns.isDefined():
        return ()
    info = java_class(session, f"{_CLUSTERING}.ClusteringColumnInfo")
    named = [info.apply(snapshot.schema(), column) for column in _items(columns.get())]
    return tuple(str(column.logicalName()) for column in named)


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]
