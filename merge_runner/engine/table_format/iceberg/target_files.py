"""Which files an Iceberg MERGE would read: it is planned as it would run, and the scan of its target says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.jvm_util import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.plan.steps.merge import RunMerge


def target_files(session: SparkSession, merge: RunMerge, total: int, notes: list[str]) -> int | None:
    """The data files in the tasks of the scans of the target; over Spark Connect there is no plan to ask."""
    java: Any = getattr(session, "_jsparkSession", None)
    if java is None:
        notes.append("Spark Connect does not report which files a plan reads")
        return None
    state = java.sessionState()
    mode = java_class(session, "org.apache.spark.sql.execution.CommandExecutionMode")
    # Else the command would run while it is planned.
    planned = state.executePlan(state.sqlParser().parsePlan(merge.sql), mode.SKIP())
    names = {merge.target.name.casefold(), f"{session.catalog.currentCatalog()}.{merge.target.name}".casefold()}
    leaves = planned.sparkPlan().collectLeaves()
    scans = [leaves.apply(index) for index in range(leaves.size())]
    files: set[str] = set()
    for scan in scans:
        if scan.getClass().getSimpleName() == "BatchScanExec" and str(scan.table().name()).casefold() in names:
            parts = scan.inputPartitions()
            for index in range(parts.size()):
                tasks = parts.apply(index).taskGroup().tasks()
                files.update(str(task.file().location()) for task in tasks.toArray())
    return len(files)
