"""Whether the rows that a MERGE has written match their own source rows alone: by the types and values of its keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.sql import analyse, run_statement
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.judge.repetition import InsertedKey
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EQUAL_AND_OTHER = ("float", "double", "collate", "char", "struct", "array", "map", "variant")
"""Types of which equal values may differ (0.0 and -0.0, case), or are stored otherwise (padded), or hold such ones."""


def keys_hold(
    session: SparkSession,
    step: RunMerge,
    keys: Sequence[InsertedKey],
    *,
    no_nulls: Callable[[Sequence[str]], bool] | None,
) -> bool:
    """Return whether each key has the type of its value in the source; with `no_nulls`: and no inserted row has NULL.

    `no_nulls` is asked first whether columns are shown to have no NULL in these rows; where it returns False, the rows
    of the target are asked. A value of another type may be stored as one that ON does not take for equal.
    Raises EngineError.
    """
    if not keys:
        return True
    statement = step.judged.statement
    with engine_errors():
        columns = {field.name.casefold(): field for field in session.table(str(step.target)).schema.fields}
    source = statement.source.span.of(statement.text)
    values = ", ".join(f"({key.source.of(statement.text)}) AS b{number}" for number, key in enumerate(keys))
    types = analyse(session, f"{statement.with_text}SELECT {values} FROM {source}").fields
    nullable = []
    for key, value in zip(keys, types, strict=True):
        column = columns.get(key.column.casefold())
        if column is None or column.dataType != value.dataType or "__CHAR_VARCHAR_TYPE_STRING" in column.metadata:
            return False
        if any(word in column.dataType.simpleString() for word in _EQUAL_AND_OTHER):
            return False
        if column.nullable and not key.null_safe:
            nullable.append(column.name)
    if no_nulls is None or not nullable or no_nulls(nullable):
        return True
    are_null = " OR ".join(f"{quote(name)} IS NULL" for name in nullable)
    return not run_statement(session, f"SELECT 1 FROM {step.target} WHERE {are_null} LIMIT 1")


def has_duplicates(session: SparkSession, step: RunMerge, keys: Sequence[InsertedKey]) -> bool:
    """Return whether two rows of the source have the same keys. Raises EngineError."""
    statement = step.judged.statement
    source = statement.source.span.of(statement.text)
    by = ", ".join(f"({key.source.of(statement.text)})" for key in keys)
    asked = f"{statement.with_text}SELECT 1 FROM {source} GROUP BY {by} HAVING count(*) > 1 LIMIT 1"
    return bool(run_statement(session, asked))
