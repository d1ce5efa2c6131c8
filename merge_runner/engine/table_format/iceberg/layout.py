"""How an Iceberg table is laid out, as its own DDL says, and its columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.protocol import RealColumn, RealLayout
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_SORT_ORDER = "sort-order"
"""The property in which Iceberg reports the sort order (SparkTable, 1.12.0)."""


def table_layout(session: SparkSession, table: Relation) -> RealLayout:
    """Partition fields with their transforms, properties, and the sort order. Raises EngineError."""
    rows = run_statement(session, f"SHOW TBLPROPERTIES {table}")
    properties = {row["key"]: row["value"] for row in rows}
    # The comment is not known: SHOW TBLPROPERTIES leaves it out.
    return RealLayout(_transforms(session, table), (), properties, tuple(_split(properties.get(_SORT_ORDER, ""))))


def columns(session: SparkSession, table: Relation) -> dict[str, RealColumn]:
    """The columns of a table by folded names. Raises EngineError."""
    with engine_errors():
        fields = json.loads(session.table(str(table)).schema.json())["fields"]
    return {field["name"].lower(): _column(field["nullable"], field.get("metadata", {})) for field in fields}


def _column(nullable: bool, metadata: Mapping[str, Any]) -> RealColumn:
    return RealColumn(nullable, metadata.get("comment"), metadata.get("CURRENT_DEFAULT"))


def _transforms(session: SparkSession, relation: Relation) -> tuple[str, ...]:
    """The partition fields of an Iceberg table, as its DDL has them."""
    statement = run_statement(session, f"SHOW CREATE TABLE {relation}")[0][0]
    line = next((line for line in statement.splitlines() if line.startswith("PARTITIONED BY (")), None)
    return tuple(_split(line.strip()[len("PARTITIONED BY (") : -1])) if line is not None else ()


def _split(text: str) -> list[str]:
    """Split at commas outside of parentheses and backquotes."""
    parts, depth, is_quoted, start = [], 0, False, 0
    for index, character in enumerate(text):
        if character == "`":
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append(text[start:index].strip())
                start = index + 1
    return [*parts, text[start:].strip()] if text.strip() else []
