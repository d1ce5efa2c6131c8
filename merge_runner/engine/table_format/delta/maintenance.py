"""OPTIMIZE and VACUUM of Delta: the statements, and what they report (Delta 4.4.0)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from merge_runner.engine.response import Compaction
from merge_runner.engine.spark.sql import run_command, run_statement, temporary_confs
from merge_runner.engine.table_format.commit_metadata import same_writer, stamp_confs
from merge_runner.engine.table_format.delta.first_run import RECREATED
from merge_runner.engine.table_format.delta.log import latest_commits, maintained_version
from merge_runner.engine.table_format.protocol import Commit, VacuumResult
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.relation import Relation, quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONFS = {
    # The commits VACUUM START and VACUUM END say what was done; on S3 they are left out unless asked for.
    "spark.databricks.delta.vacuum.logging.enabled": "true",
    # Delta 4.4.0 takes no RETAIN into account but 0 hours: what is kept is what the table's property says.
    "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled": "false",
}
_RECENT = 20


def optimize(session: SparkSession, step: OptimizeTable, stamp: str) -> Compaction:
    """Files and bytes added and removed, `table_version` and `metrics`. Raises EngineError.

    `table_version` is None where there was nothing to do: nothing is committed then.
    """
    with temporary_confs(session, stamp_confs(stamp)):
        metrics = run_statement(session, _statement(step))[0]["metrics"].asDict(recursive=True)
    files_added, files_removed = metrics["filesAdded"], metrics["filesRemoved"]
    changed = metrics["numFilesAdded"] or metrics["numFilesRemoved"]
    return Compaction(
        files_added=metrics["numFilesAdded"],
        files_removed=metrics["numFilesRemoved"],
        bytes_added=files_added["totalSize"],
        bytes_removed=files_removed["totalSize"],
        table_version=maintained_version(session, step.layout.relation, stamp) if changed else None,
        metrics={name: value for name, value in metrics.items() if value is not None},
    )


def _statement(step: OptimizeTable) -> str:
    words = f"OPTIMIZE {step.layout.relation}"
    if step.where is not None:
        words += f" WHERE {step.where}\n"  # it may end in a comment
    if step.zorder_by:
        words += f" ZORDER BY ({', '.join(quote(column) for column in step.zorder_by)})"
    return words


def vacuum(session: SparkSession, table: Relation, retain: float, stamp: str) -> VacuumResult:
    """Deletes the files that no version of the last `retain` seconds needs; rounded up to hours. Raises EngineError."""
    with temporary_confs(session, {**_CONFS, **stamp_confs(stamp)}):
        run_command(session, f"VACUUM {table} RETAIN {math.ceil(retain / 3600)} HOURS")
    latest = latest_commits(session, table, _RECENT)
    ends = (commit for commit in latest if commit.operation == "VACUUM END")
    commit = next((commit for commit in ends if same_writer(commit.stamp, stamp)), None)
    deleted = commit.metrics.get("numDeletedFiles") if commit is not None else None
    return VacuumResult(int(deleted) if deleted is not None else None)


def merges_since_compaction(session: SparkSession, table: Relation, limit: int) -> Iterator[bool]:
    """Of each commit since the table was compacted or created, newest first, whether it is a MERGE."""
    return merges(latest_commits(session, table, limit))


def merges(commits: Iterable[Commit]) -> Iterator[bool]:
    """Yield the same of commits, newest first."""
    for commit in commits:
        if commit.operation == "OPTIMIZE" or commit.operation.startswith(RECREATED):
            return
        yield commit.operation == "MERGE"
