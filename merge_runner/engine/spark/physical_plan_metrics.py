"""The metrics of a command that has run, read from its physical plan.

Spark's status store has the same figures as text, rounded where they are times, at the mercy of the UI's retention, and
only once the listener bus has caught up. The accumulators are exact, and available when the statement returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.engine.spark.sql import StatementResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_METRIC = re.compile(r"(\w+) -> SQLMetric\(id: \d+, name: .*, value: (-?\d+)\)")
"""An entry of a plan's map of metrics, as text (`AccumulatorV2.toString`, Spark 3.5 to 4.2)."""
_SNAPSHOT = re.compile(r"\bsnapshotId=(\d+|null)\b")


@dataclass(frozen=True)
class TableScan:
    """A scan of a table by Spark's `BatchScan`: `text` is its line of EXPLAIN, metrics are by Spark's descriptions.

    `snapshot` is the id of the Iceberg snapshot that was read, None for a table that has none yet.
    `is_in_final_plan`: whether the plan that ran to its end still had the scan; adaptive execution takes away the empty
    side of a join.
    """

    text: str
    metrics: Mapping[str, int]
    snapshot: int | None
    is_in_final_plan: bool


def command_metrics(result: StatementResult) -> dict[str, int]:
    """The metrics of the command itself by the engine's own names; empty over Spark Connect. Raises EngineError."""
    with engine_errors():
        plan = _plan(result)
        if plan is None:
            return {}
        return values_of(plan.metrics())


def values_of(metrics: Any) -> dict[str, int]:
    """The values of metrics by their names, of Scala's map of a plan. Raises what Py4J raises.

    They are read from the text of the map, in one call to the JVM. Asked one by one, the sixty of a MERGE take 300.
    """
    lines = str(metrics.mkString("\n")).split("\n")
    pairs_of_text = [match.groups() for match in map(_METRIC.fullmatch, lines) if match is not None]
    if len(pairs_of_text) == len(lines) == int(metrics.size()):
        return {name: int(value) for name, value in pairs_of_text}
    pairs = metrics.toSeq()
    entries = (pairs.apply(index) for index in range(pairs.size()))
    return {str(pair._1()): int(pair._2().value()) for pair in entries}


def table_scans(session: SparkSession, result: StatementResult, table: str) -> list[TableScan] | None:
    """The scans of a DataSource V2 table (dotted name) in a command's plan; None over Spark Connect.

    Raises EngineError.
    """
    with engine_errors():
        plan = _plan(result)
        if plan is None:
            return None
        info = java_class(session, "org.apache.spark.sql.execution.SparkPlanInfo")
        value = java_class(session, "org.apache.spark.util.AccumulatorContext").get
        names = (f"BatchScan {table}", f"BatchScan spark_catalog.{table}")
        planned = [node for node in _nodes(info.fromSparkPlan(plan)) if node.nodeName() in names]
        scans = [_scan(node, value, is_planned=True) for node in planned]
        for first in _first_plans(plan):
            for node in _nodes(info.fromSparkPlan(first)):
                if node.nodeName() in names and node.simpleString() not in [scan.text for scan in scans]:
                    scans.append(_scan(node, value, is_planned=False))
    return scans


def _plan(statement_result: StatementResult) -> Any:
    """The physical plan of the command; None where there is no JVM here, or the statement was no command."""
    java = getattr(statement_result.frame, "_jdf", None)  # absent on Spark Connect
    if java is None:
        return None
    result = java.queryExecution().commandExecuted()
    return result.commandPhysicalPlan() if result.getClass().getSimpleName() == "CommandResult" else None


def _first_plans(plan: Any) -> Iterator[Any]:
    """The plans that adaptive execution began with, of a writing command's query."""
    children = plan.children()
    for index in range(children.size()):
        child = children.apply(index)
        if child.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
            yield child.initialPlan()


def _nodes(info: Any) -> Iterator[Any]:
    """A SparkPlanInfo and all below it, what adaptive execution and subqueries hold included."""
    yield info
    children = info.children()
    for index in range(children.size()):
        yield from _nodes(children.apply(index))


def _scan(node: Any, value: Any, *, is_planned: bool) -> TableScan:
    metrics = {}
    infos = node.metrics()
    for index in range(infos.size()):
        info = infos.apply(index)
        accumulator = value(info.accumulatorId())
        if accumulator.isDefined():
            metrics[str(info.name())] = int(accumulator.get().value())
    text = str(node.simpleString())
    snapshot = _SNAPSHOT.search(text)
    snapshot_id = snapshot.group(1) if snapshot is not None else "null"
    return TableScan(text, metrics, None if snapshot_id == "null" else int(snapshot_id), is_planned)
