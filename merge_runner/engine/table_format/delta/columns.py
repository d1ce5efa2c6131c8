"""The columns of a Delta table: Spark's own description of them leaves out how they are generated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_error
from merge_runner.engine.table_format.delta.log import schema_fields
from merge_runner.engine.table_format.protocol import RealColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.relation import Relation

_GENERATED = "delta.generationExpression"
"""The metadata of a generated column that holds its expression."""


def columns(session: SparkSession, table: Relation) -> dict[str, RealColumn]:
    """The columns by folded names. Over Spark Connect generated ones look like others. Raises EngineError."""
    fields = schema_fields(session, table)
    told = fields is not None
    if fields is None:
        try:
            fields = json.loads(session.table(str(table)).schema.json())["fields"]
        except Exception as error:
            raise engine_error(error) from error
    return {field["name"].lower(): _column(field, told) for field in fields}


def _column(field: Mapping[str, Any], told: bool) -> RealColumn:
    """A field of a schema as Spark writes it, with Delta's keys (seen in the log of Delta 4.4.0)."""
    metadata = field.get("metadata", {})
    generated = None
    if (expression := metadata.get(_GENERATED)) is not None:
        generated = f"generated always as ({expression})"
    elif "delta.identity.start" in metadata:
        kind = "by default" if metadata.get("delta.identity.allowExplicitInsert") else "always"
        generated = f"generated {kind} as identity"
    return RealColumn(field["nullable"], metadata.get("comment"), metadata.get("CURRENT_DEFAULT"), generated, told)
