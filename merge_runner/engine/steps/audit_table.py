"""The audit table: one row for each model of each invocation, written once however often it is tried."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from merge_runner.engine.response import MERGE_FIGURES
from merge_runner.engine.spark.errors import EngineError, Kind, engine_errors
from merge_runner.engine.spark.sql import run_command, run_statement
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.formats import DEFAULT, Format
from merge_runner.formats.registry import FORMATS
from merge_runner.location import Location
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
    **dict.fromkeys(("bounds", "metrics", "batches", "message"), "string"),
    **{"run_started_at": "timestamp", "run_record": "string"},
}
"""Name and type of the table's columns; `bounds`, `metrics` and `batches` are JSON.

One row of each invocation has `run_record`: what `report` shows of the run, as gzipped JSON in base64.
"""

_DAYS = 90
_TRIES = 8
_LONGEST_PAUSE = 5.0
_VIEW = "__audit__"


def write_audit(
    session: SparkSession,
    catalog: Catalog,
    table: Relation,
    location: Location | None,
    rows: Sequence[Mapping[str, Any]],
    lock: Callable[[], AbstractContextManager[None]],
) -> tuple[str, ...]:
    """Adds the rows of one invocation that the table does not have yet; creates the table where it is missing.

    `location` is its folder in the embedded warehouse, None elsewhere. `lock` keeps other processes of the machine from
    writing it. Another writer's conflict is tried again. Returns the schema drift from COLUMNS as text; columns that an
    older release did not have are added. Raises EngineError.
    """
    layout = _layout(session, table, location)
    schema = ", ".join(f"{name} {type}" for name, type in COLUMNS.items())
    with engine_errors(or_bugs=True):
        values = [tuple(row.get(name) for name in COLUMNS) for row in rows]
        session.createDataFrame(values, schema).createOrReplaceTempView(_VIEW)
    statement = _statement(table, {row["invocation_id"] for row in rows})
    attempt = 1
    while True:
        try:
            with lock():
                target = catalog.create_target(session, _complete(session, catalog, layout), None, replace=False)
                run_command(session, statement)
        except EngineError as error:
            if error.kind is not Kind.CONFLICT or attempt == _TRIES:
                raise
        else:
            return target.drift
        time.sleep(min(_LONGEST_PAUSE, 0.2 * 2**attempt) * random.uniform(0.5, 1.0))
        attempt += 1


def run_records(
    session: SparkSession, catalog: Catalog, table: Relation, location: Location | None, project: str, limit: int
) -> list[str]:
    """Return the `run_record` of the last runs of a project, newest first; none where there is no such table.

    Runs of the last `_DAYS` days count: files that are older are skipped. Raises EngineError.
    """
    if not catalog.adopt(session, _layout(session, table, location)):
        return []
    rows = run_statement(
        session,
        f"SELECT run_record FROM {table} WHERE run_started_at > current_timestamp() - INTERVAL {_DAYS} DAYS AND "
        f"run_record IS NOT NULL AND startswith(unique_id, {string_literal(f'model.{project}.')}) "
        f"ORDER BY run_started_at DESC LIMIT {limit}",
    )
    return [row[0] for row in rows]


def _layout(session: SparkSession, table: Relation, location: Location | None) -> Layout:
    columns = tuple(Column(name, type) for name, type in COLUMNS.items())
    return Layout(table, _format(session, table), location, columns)


def _complete(session: SparkSession, catalog: Catalog, layout: Layout) -> Layout:
    """The layout that adds what is missing to the table of an older release; a table of others stays as it is."""
    if not catalog.adopt(session, layout):
        return layout
    with engine_errors(or_bugs=True):
        columns = session.table(str(layout.relation)).columns
    return replace(layout, on_schema_change="append_new_columns") if set(KEYS) <= {*columns} else layout


def _format(session: SparkSession, table: Relation) -> Format:
    """The format that the class of the table's catalog names: a catalog of Iceberg has no other tables."""
    implementation = session.conf.get(f"spark.sql.catalog.{table.catalog}", "") if table.catalog is not None else ""
    return next((name for name in FORMATS if name in (implementation or "")), DEFAULT)


def _statement(table: Relation, invocations: set[str]) -> str:
    """An insert-only MERGE; the invocation as a literal lets the engine skip files."""
    names = ", ".join(COLUMNS)
    values = ", ".join(f"s.{name}" for name in COLUMNS)
    on = " AND ".join(f"t.{key} = s.{key}" for key in KEYS)
    ids = ", ".join(string_literal(invocation) for invocation in sorted(invocations))
    return (
        f"MERGE INTO {table} AS t USING {_VIEW} AS s ON {on} AND t.invocation_id IN ({ids}) "
        f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
    )
