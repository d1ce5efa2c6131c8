"""The audit table: one row for each model of each invocation, written once however often it is tried."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.engine.response import MERGE_FIGURES
from merge_runner.engine.spark.errors import EngineError, Kind, engine_errors
from merge_runner.engine.spark.sql import run_command
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.formats import DEFAULT, Format
from merge_runner.formats.registry import FORMATS
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


KEYS = ("invocation_id", "unique_id")
COLUMNS: Mapping[str, str] = {
    **dict.fromkeys((*KEYS, "name", "status"), "string"),
    **dict.fromkeys(("started_at", "completed_at"), "timestamp"),
    **dict.fromkeys((*MERGE_FIGURES, "attempts"), "bigint"),
    **{"verdict": "string", "verdict_held": "boolean"},
    **dict.fromkeys(("bounds", "metrics", "message"), "string"),
}
"""Name and type of the table's columns; `bounds` and `metrics` are JSON."""

_TRIES = 8
_LONGEST_PAUSE = 5.0
_VIEW = "__audit__"


def write_audit(
    session: SparkSession,
    catalog: Catalog,
    table: Relation,
    location: Path | None,
    rows: Sequence[Mapping[str, Any]],
    lock: Callable[[], AbstractContextManager[None]],
) -> tuple[str, ...]:
    """Adds the rows of one invocation that the table does not have yet; creates the table where it is missing.

    `location` is its folder in the embedded warehouse, None elsewhere. `lock` keeps other processes of the machine from
    writing it. Another writer's conflict is tried again. Returns the schema drift from COLUMNS as text.
    Raises EngineError.
    """
    layout = Layout(
        table, _format(session, table), location, tuple(Column(name, type) for name, type in COLUMNS.items())
    )
    schema = ", ".join(f"{name} {type}" for name, type in COLUMNS.items())
    with engine_errors(or_bugs=True):
        values = [tuple(row.get(name) for name in COLUMNS) for row in rows]
        session.createDataFrame(values, schema).createOrReplaceTempView(_VIEW)
    statement = _statement(table, {row["invocation_id"] for row in rows})
    attempt = 1
    while True:
        try:
            with lock():
                target = catalog.create_target(session, layout, None, replace=False)
                run_command(session, statement)
        except EngineError as error:
            if error.kind is not Kind.CONFLICT or attempt == _TRIES:
                raise
        else:
            return target.drift
        time.sleep(min(_LONGEST_PAUSE, 0.2 * 2**attempt) * random.uniform(0.5, 1.0))
        attempt += 1


def _format(session: SparkSession, table: Relation) -> Format:
    """The format that the class of the table's catalog names: a catalog of Iceberg has no other tables."""
    implementation = session.conf.get(f"spark.sql.catalog.{table.catalog}", "") if table.catalog is not None else ""
    return next((name for name in FORMATS if name in (implementation or "")), DEFAULT)


def _statement(table: Relation, invocations: set[str]) -> str:
    """An insert-only MERGE; the invocation as a literal lets the engine skip files."""
    names = ", ".join(COLUMNS)
    values = ", ".join(f"s.{name}" for name in COLUMNS)
    joined = " AND ".join(f"t.{key} = s.{key}" for key in KEYS)
    ids = ", ".join(string_literal(one) for one in sorted(invocations))
    return (
        f"MERGE INTO {table} AS t USING {_VIEW} AS s ON {joined} AND t.invocation_id IN ({ids}) "
        f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
    )
