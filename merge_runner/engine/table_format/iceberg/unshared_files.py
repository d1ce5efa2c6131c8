"""The files that one of two snapshots of an Iceberg table has and the other one has not, as views of their rows.

A scan of Iceberg's is a list of tasks: a data file, and the delete files that apply to it. Two tasks with the same
files give the same rows. Tasks that were planned can be read by themselves, as Iceberg's compaction does it
(`ScanTaskSetManager`, 1.12.0).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.comparison.report import FilesRead
from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.jvm_util import active_session, java_class
from merge_runner.engine.table_format.iceberg.log import load_table
from merge_runner.engine.table_format.protocol import TableVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST = 10_000
"""Files of a snapshot that are looked at one by one; a table with more is read as a whole."""
_TASK_SETS = "org.apache.iceberg.spark.ScanTaskSetManager"
_TABLES = "org.apache.iceberg.spark.SparkTableCache"
"""The tables of staged tasks: `load` finds them by the key of the tasks, and reads these alone."""
_LISTS = "org.apache.iceberg.relocated.com.google.common.collect.Lists"
_Files = tuple[str, ...]


@dataclass(frozen=True)
class _Scan:
    """The tasks of a scan of a snapshot by the names of their files, and Iceberg's own Table."""

    table: Any
    tasks: Mapping[_Files, Any]


@contextmanager
def unshared_files(
    session: SparkSession, left: TableVersion, right: TableVersion, names: tuple[str, str]
) -> Iterator[FilesRead | None]:
    """Define temporary views of the rows in files that are not shared; see the protocol. Raises EngineError."""
    with engine_errors(), active_session(session):
        first, second = _scan(session, left), _scan(session, right)
    if first is None or second is None or not _are_of_one_table(first, second):
        yield None
        return
    shared = first.tasks.keys() & second.tasks.keys()
    only = [[scan.tasks[files] for files in scan.tasks.keys() - shared] for scan in (first, second)]
    with _view(session, first, only[0], names[0]), _view(session, second, only[1], names[1]):
        yield FilesRead(len(only[0]), len(only[1]), len(shared))


def _are_of_one_table(left: _Scan, right: _Scan) -> bool:
    return str(left.table.uuid()) == str(right.table.uuid())


def _scan(session: SparkSession, side: TableVersion) -> _Scan | None:
    """Return the scan of a table; None where it cannot be asked, has no files, or too many.

    None as well for a snapshot with other columns than the table has now: staged tasks are read with those.
    """
    table = load_table(session, side.table) if internals().reads_staged_tasks else None
    if table is None:
        return None
    snapshot = table.currentSnapshot() if side.version is None else table.snapshot(side.version)
    if snapshot is None or int(snapshot.summary().getOrDefault("total-data-files", "0")) > _MOST:
        return None
    if snapshot.schemaId() != table.schema().schemaId():
        return None
    has_deletes = snapshot.summary().getOrDefault("total-delete-files", "unknown") != "0"
    tasks = {_files(task, has_deletes): task for task in _planned_tasks(session, table, snapshot)}
    return _Scan(table, tasks) if tasks else None


def _planned_tasks(session: SparkSession, table: Any, snapshot: Any) -> list[Any]:
    """Return the tasks of a scan. Each question that is asked of one is a call to the JVM: there are to be few."""
    planned = table.newScan().useSnapshot(snapshot.snapshotId()).planFiles()
    try:
        tasks = java_class(session, _LISTS).newArrayList(planned)
    finally:
        planned.close()
    return [tasks.get(number) for number in range(tasks.size())]


def _files(task: Any, has_deletes: bool) -> _Files:
    """Return what identifies the rows of a task: several deletion vectors lie in one file."""
    deletes = (
        sorted(f"{delete.location()}@{delete.contentOffset()}" for delete in task.deletes()) if has_deletes else ()
    )
    return (str(task.file().location()), *deletes)


@contextmanager
def _view(session: SparkSession, scan: _Scan, tasks: Sequence[Any], name: str) -> Iterator[None]:
    """A temporary view of the rows of some tasks of a scan, inside the block."""
    key = str(uuid.uuid4())
    with engine_errors(), active_session(session):
        tables, task_sets = (java_class(session, class_name).get() for class_name in (_TABLES, _TASK_SETS))
        java_tasks = java_class(session, "java.util.ArrayList")()
        for task in tasks or scan.tasks.values():  # Iceberg stages no empty list
            java_tasks.add(task)
        tables.add(key, scan.table)
        task_sets.stageTasks(scan.table, key, java_tasks)
    try:
        with engine_errors(), active_session(session):
            rows = session.read.format("iceberg").load(key)
            (rows if tasks else rows.where("false")).createOrReplaceTempView(name)
        yield
    finally:
        with engine_errors():
            task_sets.removeTasks(scan.table, key)
            tables.remove(key)
