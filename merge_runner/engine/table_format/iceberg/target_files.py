"""Which files an Iceberg MERGE would read: it is planned as it would run, and the scan of its target says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.engine.spark.physical_plan_metrics import TableScan
from merge_runner.engine.table_format.iceberg.merge_metrics import target_scan
from merge_runner.engine.table_format.protocol import ScanSize, TableState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.plan.steps.merge import RunMerge

_FIELDS = 1000
"""Fields of a scan that its text names at most."""


def target_files(session: SparkSession, merge: RunMerge, whole: TableState, notes: list[str]) -> ScanSize | None:
    """Return what the scan of the target has planned to read; over Spark Connect there is no plan to ask."""
    java: Any = getattr(session, "_jsparkSession", None)
    if java is None:
        notes.append("Spark Connect does not report which files a plan reads")
        return None
    with engine_errors(merge.sql):
        state = java.sessionState()
        mode = java_class(session, "org.apache.spark.sql.execution.CommandExecutionMode")
        # Else the command would run while it is planned.
        planned = state.executePlan(state.sqlParser().parsePlan(merge.sql), mode.SKIP())
        names = {merge.target.name.casefold(), f"{session.catalog.currentCatalog()}.{merge.target.name}".casefold()}
        leaves = planned.sparkPlan().collectLeaves()
        nodes = [leaves.apply(index) for index in range(leaves.size())]
        scans = [
            _planned_scan(node)
            for node in nodes
            if node.getClass().getSimpleName() == "BatchScanExec" and str(node.table().name()).casefold() in names
        ]
    if not scans:
        return ScanSize(0, 0)  # the optimizer has taken the scan away: the condition is false, or the source has no row
    scan = target_scan(scans)
    if scan is None:
        notes.append("the source reads the target as well: which of the scans is that of the target is not known")
        return None
    return ScanSize(scan.metrics.get("resultDataFiles", 0), scan.metrics.get("totalDataFileSize", 0))


def _planned_scan(node: Any) -> TableScan:
    """The scan of a node of the plan, with Iceberg's own metrics of what it has planned. Raises what Py4J raises."""
    node.inputPartitions()  # Iceberg looks for the files now; their names stay in the JVM
    metrics = {str(metric.name()): int(metric.value()) for metric in node.scan().reportDriverMetrics()}
    return TableScan(str(node.simpleString(_FIELDS)), metrics, None, is_in_final_plan=True)
