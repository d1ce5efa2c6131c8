"""The columns that schema evolution would give the target of a Delta MERGE."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

    from merge_runner.merge.statement import MergeStatement


def columns_after(session: SparkSession, merge: MergeStatement) -> list[StructField] | None:
    """The columns that Delta would give the target; none where it leaves them as they are, None over Spark Connect.

    They are in the analysed command (MergeIntoCommand.migratedSchema, Delta 4.4.0), which is not run.
    """
    from pyspark.sql.types import StructType

    if not hasattr(session, "_jsparkSession"):
        return None
    state = session._jsparkSession.sessionState()
    skip = java_class(session, "org.apache.spark.sql.execution.CommandExecutionMode").SKIP()
    with engine_errors(merge.text):
        plan: Any = state.executePlan(state.sqlParser().parsePlan(merge.text), skip).analyzed()
        schema = plan.migratedSchema()
        return list(StructType.fromJson(json.loads(schema.get().json())).fields) if schema.isDefined() else []
