"""Which type names Spark's parser takes in a cast, and what to write instead of those of other systems."""

from __future__ import annotations

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.keywords import COMPLEX_TYPES, DECIMAL_TYPES, LENGTH_TYPES, PLAIN_TYPES
from merge_runner.merge.syntax.sql import Sql

_MAX_PRECISION = 38

FOREIGN = {
    "TEXT": "STRING",
    "NUMBER": "DECIMAL(p, s)",
    "DATETIME": "TIMESTAMP",
    "DATETIME2": "TIMESTAMP",
    "SMALLDATETIME": "TIMESTAMP",
    "BOOL": "BOOLEAN",
    "BIT": "BOOLEAN",
    "JSON": "STRING or VARIANT",
    "JSONB": "STRING or VARIANT",
    "UUID": "STRING",
    "UNIQUEIDENTIFIER": "STRING",
    "BLOB": "BINARY",
    "BYTES": "BINARY",
    "BYTEA": "BINARY",
    "CLOB": "STRING",
    "INT2": "SMALLINT",
    "INT4": "INT",
    "INT8": "BIGINT",
    "INT64": "BIGINT",
    "FLOAT4": "FLOAT",
    "FLOAT8": "DOUBLE",
    "FLOAT64": "DOUBLE",
    "NCHAR": "STRING",
    "NVARCHAR": "STRING",
    "VARCHAR2": "STRING",
    "NVARCHAR2": "STRING",
    "VARBINARY": "BINARY",
    "TIMESTAMPTZ": "TIMESTAMP",
    "MONEY": "DECIMAL(19, 4)",
    "SIGNED": "BIGINT",
    "UNSIGNED": "BIGINT",
}
"""Types of other systems (UNSUPPORTED_DATATYPE in Spark 4.1.4) and Spark's own."""


def read_type(sql: Sql, i: int, stop: int) -> int:
    """The index after the type that begins at token i of [i, stop).

    Raises MergeSyntaxError for a type that Spark refuses by its name, length or precision. A name that is in no table
    here passes: it may be a type of a later Spark.
    """
    key = sql.key(i)
    if i >= stop:
        raise MergeSyntaxError("the type is missing", sql.at(i), "write a type, as in `CAST(x AS INT)`")
    if key in FOREIGN:
        raise MergeSyntaxError(
            f"Spark has no type {sql.word(i)}", sql.at(i), f"write {FOREIGN[key]}", kind="unsupported"
        )
    after = i + 1
    if key == "INTERVAL":
        while after < stop and sql.key(after) in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"):
            after += 1
        return after
    if key in COMPLEX_TYPES:
        return _read_complex(sql, i, stop)
    if after < stop and sql.key(after) == "(":
        close = sql.partner[after]
        _check_parameters(sql, i, close)
        after = close + 1
    elif key in LENGTH_TYPES:
        raise MergeSyntaxError(
            f"{sql.word(i)} wants a length", sql.at(i), f"write {sql.word(i)}(10), or STRING", kind="unsupported"
        )
    if after < stop and sql.key(after) == "[":
        raise MergeSyntaxError(
            "Spark has no type with [] after it",
            sql.span(i, sql.partner[after] + 1),
            f"write ARRAY<{sql.word(i)}>",
            kind="unsupported",
        )
    if key == "DOUBLE" and sql.key(after) == "PRECISION":
        raise MergeSyntaxError(
            "Spark has no type DOUBLE PRECISION", sql.span(i, after + 1), "write DOUBLE", kind="unsupported"
        )
    return after


def _read_complex(sql: Sql, i: int, stop: int) -> int:
    if i + 1 < stop and sql.key(i + 1) == "<" and sql.partner[i + 1] > i:
        return sql.partner[i + 1] + 1
    if sql.key(i) == "STRUCT" and i + 1 < stop and sql.key(i + 1) == "<>":
        return i + 2
    raise MergeSyntaxError(
        f"{sql.word(i)} wants its element types", sql.at(i), "as in ARRAY<INT>, MAP<STRING, INT>, STRUCT<a: INT>"
    )


def _check_parameters(sql: Sql, i: int, close: int) -> None:
    key, whole = sql.key(i), sql.span(i, close + 1)
    if key in PLAIN_TYPES:
        raise MergeSyntaxError(
            f"the type {sql.word(i)} takes no length", whole, f"write {sql.word(i)}", kind="unsupported"
        )
    if key in DECIMAL_TYPES:
        numbers = [sql.word(n) for n in range(i + 2, close) if sql.kind(n) == "number"]
        if not all(number.isdecimal() for number in numbers) or not 1 <= len(numbers) <= 2:
            return
        precision, scale = int(numbers[0]), int(numbers[1]) if len(numbers) == 2 else 0
        if precision > _MAX_PRECISION:
            raise MergeSyntaxError(f"a decimal has at most {_MAX_PRECISION} digits", whole)
        if scale > precision:
            raise MergeSyntaxError(f"a scale of {scale} does not fit in {precision} digits", whole)
