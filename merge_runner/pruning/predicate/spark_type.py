"""The type that a cast names, from sqlglot's tree."""

from __future__ import annotations

from sqlglot import exp

from merge_runner.formats.types import DataType

_TYPES = {
    "BOOLEAN": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INT": "int",
    "BIGINT": "bigint",
    "FLOAT": "float",
    "DOUBLE": "double",
    "DECIMAL": "decimal",
    "TEXT": "string",
    "VARCHAR": "varchar",
    "CHAR": "char",
    "BINARY": "binary",
    "VARBINARY": "binary",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamp",
    "TIMESTAMPLTZ": "timestamp",
    "TIMESTAMPNTZ": "timestamp_ntz",
    "TIME": "time",
    "VARIANT": "variant",
    "INTERVAL": "interval",
    "ARRAY": "array",
    "MAP": "map",
    "STRUCT": "struct",
}


def spark_type(tree: exp.DataType) -> DataType | None:
    """The type that a cast names."""
    name = _TYPES.get(tree.this.name if hasattr(tree.this, "name") else str(tree.this))
    if name is None:
        return None
    numbers = [
        int(parameter.name)
        for parameter in tree.expressions
        if isinstance(parameter, exp.DataTypeParam) and parameter.name.isdigit()
    ]
    if name == "decimal":
        return DataType(name, numbers[0] if numbers else 10, numbers[1] if len(numbers) > 1 else 0)
    if name in ("varchar", "char"):
        return DataType(name, length=numbers[0] if numbers else None)
    return DataType(name)
