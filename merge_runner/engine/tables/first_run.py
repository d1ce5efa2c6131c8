"""Whether the table of a merge model has been built before, read from the table's log: the value of `is_incremental()`.

A table that was only created has not been built, by whatever process: a first run that failed after CREATE, or that was
killed, is a first run again and loads everything. What counts is a statement that has written rows since the table was
created or replaced. Hooks do not count, and neither does what another model of this project has written to the table.

A MERGE that changes nothing leaves no commit on Delta (4.4.0) and an empty snapshot on Iceberg (1.12.0): on both the
next run is a first run again, since nothing has been loaded yet.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.commit_metadata import FULL_REFRESH, written_by
from merge_runner.engine.table_format.delta.log import latest_commits
from merge_runner.engine.table_format.iceberg.log import latest_snapshots
from merge_runner.engine.table_format.protocol import Commit
from merge_runner.engine.tables.catalog import Catalog, table_folder
from merge_runner.plan.steps.node_plan import FirstRun, NodePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK_BACK = 1000
"""Commits that are read at most: a table with so many that wrote no row of the model has a long past."""
_ANEW = ("CREATE", "REPLACE")
"""How the operations of Delta begin that write a table as a whole: with rows only where they end in AS SELECT."""
_METADATA = frozenset(
    {"ADD COLUMNS", "DROP COLUMNS", "RENAME COLUMN", "CHANGE COLUMN", "CHANGE COLUMNS", "REPLACE COLUMNS"}
    | {"UPDATE SCHEMA", "UPDATE COLUMN METADATA", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "CLUSTER BY"}
    | {"ADD CONSTRAINT", "DROP CONSTRAINT", "UPGRADE PROTOCOL", "DROP FEATURE", "DOMAIN METADATA CLEANUP"}
    | {"REMOVE DOMAIN METADATA", "ROW TRACKING BACKFILL", "ROW TRACKING UNBACKFILL", "VACUUM START", "VACUUM END"}
)
"""Operations of Delta (DeltaOperations of 4.4.0) that write no row, also on a table that never had one."""


def chosen(session: SparkSession, catalog: Catalog, plan: NodePlan) -> NodePlan:
    """Return the plan that runs: that of a first run where the table has never been built. Raises EngineError."""
    first = plan.first_run
    return plan if first is None or has_been_built(session, catalog, first) else first.plan


def has_been_built(session: SparkSession, catalog: Catalog, first: FirstRun) -> bool:
    """Return whether the table exists and the model has written it before. Raises EngineError."""
    layout = first.layout
    if not catalog.adopt(session, layout):
        return False
    if layout.format == "iceberg":
        return _iceberg_is_built(latest_snapshots(session, layout.relation, _LOOK_BACK), first.others)
    return delta_is_built(_readable(latest_commits(session, layout.relation, _LOOK_BACK)), first.others)


def built_in_warehouse(plan: NodePlan) -> bool | None:
    """Return the same of a Delta table in the embedded warehouse, from its files alone; None for any other table."""
    first = plan.first_run
    if first is None or first.layout.location is None or first.layout.format != "delta":
        return None
    if not table_folder(first.layout.location):
        return False
    return delta_is_built(_commits(first.layout.location / "_delta_log"), first.others)


def delta_is_built(commits: Iterable[Commit], others: Collection[str]) -> bool:
    """Return the same from a Delta table's commits, newest first; `others` are nodes that write the table as well."""
    oldest: int | None = None
    for commit in commits:
        oldest = commit.version
        writer = written_by(commit.stamp)
        if commit.operation.startswith(_ANEW):
            if not commit.operation.endswith("AS SELECT"):
                return False
        elif commit.operation in _METADATA:
            continue
        if writer is None or (writer.of is None and writer.node not in others):
            return True
    # Commits that the log no longer has may have written it.
    return oldest is None or oldest > 0


def _iceberg_is_built(snapshots: Iterable[Commit], others: Collection[str]) -> bool:
    for snapshot in snapshots:
        writer = written_by(snapshot.stamp)
        if writer is not None and writer.of == FULL_REFRESH:
            return False
        if writer is not None and (writer.of is not None or writer.node in others):
            continue
        if _has_rows(snapshot.metrics):
            return True
    return False


def _has_rows(summary: Mapping[str, str]) -> bool:
    """Whether a snapshot of Iceberg leaves rows in the table, or took some away; without a count it does."""
    return any(summary.get(key, "0") != "0" for key in ("deleted-records", "deleted-data-files")) or (
        summary.get("total-records") != "0"
    )


def _readable(commits: Iterator[Commit]) -> Iterator[Commit]:
    """The commits up to the first one whose file the log has cleaned up."""
    try:
        yield from commits
    except EngineError as error:
        if "FileNotFound" not in error.code and "FILE_NOT_FOUND" not in error.code:
            raise


def _commits(log: Path) -> Iterator[Commit]:
    """The commits of a Delta log on a local disk, newest first, each read when it is needed."""
    for path in sorted(log.glob("[0-9]*.json"), reverse=True):
        if not path.stem.isdecimal():
            continue
        actions = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
        info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
        yield Commit(int(path.stem), info.get("operation", ""), info.get("userMetadata"), {})
