"""What a committed statement did, in the engine's own figures.

Row counts and times stand in the Delta history, found by the stamp that the statement's session writes into
`userMetadata`; what was skipped stands only in Spark's SQL status store, found by the statement's job description.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from merge_runner.engine.delta_log import Commit, latest_commits
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHORT_NAMES = {
    "rows_source": "numSourceRows",
    "rows_inserted": "numTargetRowsInserted",
    "rows_updated": "numTargetRowsUpdated",
    "rows_deleted": "numTargetRowsDeleted",
    "rows_copied": "numTargetRowsCopied",
    "files_total": "numTargetFilesBeforeSkipping",
    "files_scanned": "numTargetFilesAfterSkipping",
    "files_added": "numTargetFilesAdded",
    "files_removed": "numTargetFilesRemoved",
    "bytes_added": "numTargetBytesAdded",
    "bytes_removed": "numTargetBytesRemoved",
    "scan_ms": "scanTimeMs",
    "rewrite_ms": "rewriteTimeMs",
    "execution_ms": "executionTimeMs",
}
"""Names of an adapter response, and the metric of Delta's MERGE that each one is."""

_SQL_METRICS = {
    # Descriptions in Delta's MergeIntoCommandBase; the history has no figures on skipping.
    "number of source rows": "numSourceRows",
    "number of inserted rows": "numTargetRowsInserted",
    "number of updated rows": "numTargetRowsUpdated",
    "number of deleted rows": "numTargetRowsDeleted",
    "number of target rows rewritten unmodified": "numTargetRowsCopied",
    "number of target files before skipping": "numTargetFilesBeforeSkipping",
    "number of target files after skipping": "numTargetFilesAfterSkipping",
}
_WHOLE_NUMBER = re.compile(r"[0-9][0-9,]*\Z")
_WRITES = frozenset({"MERGE", "CREATE OR REPLACE TABLE AS SELECT", "CREATE TABLE AS SELECT"})
_RECENT = 50
"""Commits of other writers that may stand above ours in the history before we look."""


def merge_metrics(session: SparkSession, target: Relation, stamp: str, description: str) -> dict[str, Any]:
    """Metrics of the MERGE by the engine's names, and `version` where it committed one.

    A MERGE that changes nothing may commit no version; its row counts come from the status store then.
    """
    found: dict[str, Any] = dict(_status_store(session, description))
    commit = stamped_commit(session, target, stamp)
    if commit is not None:
        found |= {name: _number(value) for name, value in commit.metrics.items()}
        found["version"] = commit.version
    return found


def stamped_commit(session: SparkSession, table: Relation, stamp: str) -> Commit | None:
    """The newest commit of a Delta table that carries the stamp and wrote data; None where there is none."""
    for commit in latest_commits(session, table, _RECENT):
        if commit.user_metadata == stamp and commit.operation in _WRITES:
            return commit
    return None


def _status_store(session: SparkSession, description: str) -> dict[str, int]:
    jvm_session = getattr(session, "_jsparkSession", None)  # absent on Spark Connect
    if jvm_session is None:
        return {}
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = jvm_session.sharedState().statusStore()
    executions = store.executionsList()
    found: dict[str, int] = {}
    for index in range(executions.size() - 1, -1, -1):
        execution = executions.apply(index)
        if execution.description() != description:
            continue
        values = store.executionMetrics(execution.executionId())
        metrics = execution.metrics()
        for position in range(metrics.size()):
            metric = metrics.apply(position)
            name = _SQL_METRICS.get(metric.name())
            value = values.get(metric.accumulatorId())
            if name and value.isDefined() and _WHOLE_NUMBER.match(value.get()):
                found.setdefault(name, int(value.get().replace(",", "")))
    return found


def _number(value: str) -> int | str:
    return int(value) if value.lstrip("-").isdigit() else value
