"""The columns of a relation as values that can be grouped and compared, whatever their types.

Spark groups neither maps (before 4.0) nor variants, and texts with a collation by that; a comparison of rows is by what
is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from merge_runner.comparison.columns import TypedColumn
from merge_runner.engine.spark.sql import analyse
from merge_runner.relation import quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

_BINARY = "UTF8_BINARY"


def typed_columns(session: SparkSession, relation: str) -> Sequence[TypedColumn]:
    """Return the columns of a relation, which is analysed and not read. Raises EngineError."""
    return [
        TypedColumn(
            field.name,
            field.dataType.simpleString(),
            comparable_value(quote(field.name), field.dataType),
            _collation(field.dataType),
        )
        for field in analyse(session, f"SELECT * FROM {relation}").fields
    ]


def comparable_value(expression: str, type: DataType, depth: int = 0) -> str:
    """Return an expression whose values are equal where those of `expression` are stored as equal values.

    A map is its sorted entries, a variant its JSON, a text with a collation the same text without.
    """
    from pyspark.sql.types import ArrayType, MapType, StructType

    if _collation(type) is not None:
        return f"({expression}) COLLATE {_BINARY}"
    if type.typeName() == "variant":
        return f"to_json({expression})"
    item = f"item{depth}"
    if isinstance(type, ArrayType):
        value = comparable_value(item, type.elementType, depth + 1)
        return expression if value == item else f"transform({expression}, {item} -> {value})"
    if isinstance(type, StructType):
        own = {field.name: f"{expression}.{quote(field.name)}" for field in type.fields}
        values = {field.name: comparable_value(own[field.name], field.dataType, depth) for field in type.fields}
        if values == own:
            return expression
        fields = ", ".join(f"{string_literal(name)}, {value}" for name, value in values.items())
        return f"IF({expression} IS NULL, NULL, named_struct({fields}))"
    if isinstance(type, MapType):
        key = comparable_value(f"{item}.key", type.keyType, depth + 1)
        value = comparable_value(f"{item}.value", type.valueType, depth + 1)
        entries = f"transform(map_entries({expression}), {item} -> named_struct('key', {key}, 'value', {value}))"
        return f"array_sort({entries})"
    return expression


def _collation(type: DataType) -> str | None:
    """Return the collation of a type of texts; None for that of all others, and where texts are compared by bytes.

    PySpark has collations since 4.0.
    """
    name = str(getattr(type, "collation", _BINARY))
    return None if name == _BINARY else name
