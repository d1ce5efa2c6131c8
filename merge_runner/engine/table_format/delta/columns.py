"""The columns of a Delta table: those that it has, and those that schema evolution would give it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.engine.table_format.delta.log import schema_fields
from merge_runner.engine.table_format.protocol import RealColumn
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

    from merge_runner.merge.statement import MergeStatement

_GENERATED = "delta.generationExpression"
"""The metadata of a generated column that holds its expression."""


def columns(session: SparkSession, table: Relation) -> dict[str, RealColumn]:
    """The columns by folded names: Spark's own description of them leaves out how they are generated.

    Over Spark Connect generated ones look like others. Raises EngineError.
    """
    fields = schema_fields(session, table)
    readable = fields is not None
    if fields is None:
        with engine_errors():
            fields = json.loads(session.table(str(table)).schema.json())["fields"]
    return {field["name"].lower(): _column(field, readable) for field in fields}


def _column(field: Mapping[str, Any], readable: bool) -> RealColumn:
    """A field of a schema as Spark writes it, with Delta's keys (seen in the log of Delta 4.4.0)."""
    metadata = field.get("metadata", {})
    generated = None
    if (expression := metadata.get(_GENERATED)) is not None:
        generated = f"generated always as ({expression})"
    elif "delta.identity.start" in metadata:
        kind = "by default" if metadata.get("delta.identity.allowExplicitInsert") else "always"
        generated = f"generated {kind} as identity"
    return RealColumn(field["nullable"], metadata.get("comment"), metadata.get("CURRENT_DEFAULT"), generated, readable)


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
