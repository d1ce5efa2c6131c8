"""What Spark keeps of a column of strings that is declared as `char(n)` or `varchar(n)`, and which values are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

DECLARED_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
"""The key of a column's metadata that has the declared type."""
_EXACT = frozenset(
    ("boolean", "tinyint", "smallint", "int", "bigint", "string", "date", "timestamp", "timestamp_ntz", "binary")
)


def declared_type(field: StructField) -> str:
    """Return `char(n)` or `varchar(n)`; empty for a column of another type."""
    return str(field.metadata.get(DECLARED_TYPE, ""))


def is_exact(kind: str) -> bool:
    """Return whether two values of a type, by Spark's name, are equal only where they are the same.

    Not so: 0.0 and -0.0, and texts of a collation. Of `char(n)`, which is padded, this is not asked.
    """
    return kind in _EXACT or kind.startswith("decimal(")
