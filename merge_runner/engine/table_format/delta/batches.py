"""The batches that a Delta table has committed, as its log says (Delta 4.4.0).

Delta keeps the highest number of each application in the log, and skips a statement with such a number or a lower one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import active_session
from merge_runner.engine.table_format.delta.log import snapshot
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def batch_confs(app: str, batch: int) -> Mapping[str, str]:
    """Return the confs of a session whose commits are of a batch."""
    return {"spark.databricks.delta.write.txnAppId": app, "spark.databricks.delta.write.txnVersion": str(batch)}


def recorded_batches(session: SparkSession, table: Relation, prefix: str, version: int | None = None) -> dict[str, int]:
    """The highest batch of each application whose name begins with `prefix`, as of a version where one is given.

    Over Spark Connect the log cannot be asked, and there are none. Raises EngineError.
    """
    current = snapshot(session, table, version)
    if current is None:
        return {}
    with engine_errors(), active_session(session):  # a table with a checkpoint is read by it
        # One answer of the JVM, however many there are.
        printed = str(current.state.transactions().mkString("\n"))
    pairs = (line.rpartition(" -> ") for line in printed.splitlines())
    return {app: int(version) for app, _, version in pairs if app.startswith(prefix)}
