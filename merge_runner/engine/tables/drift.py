"""Where a real table differs from the layout that the project declares, and what makes it good without writing rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from merge_runner.engine.spark.sql import analyse
from merge_runner.engine.table_format.protocol import RealLayout, TableFormat
from merge_runner.engine.tables import ddl
from merge_runner.engine.tables.constraint_drift import constraint_drift, is_generated
from merge_runner.engine.tables.difference import Drift
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.project.schema.config import OnSchemaChange
from merge_runner.pruning.layout.layout import partition_field

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField


_FEATURE = "delta.feature."
_SORT_ITEM = re.compile(r"(.+?)(?:\s+(asc|desc))?(?:\s+nulls[\s_]+(first|last))?\Z", re.IGNORECASE | re.DOTALL)
_VERSIONS = ("delta.minreaderversion", "delta.minwriterversion")


def drift(session: SparkSession, layout: Layout, table_format: TableFormat) -> list[Drift]:
    """Where the real table differs from the layout that the project declares. Raises EngineError."""
    real = table_format.layout(session, layout.relation)
    held = {key.lower(): value for key, value in real.properties.items()}
    if any(_is_of_protocol(key.lower()) for key in layout.properties):
        held |= {
            key.lower(): value for key, value in table_format.protocol_properties(session, layout.relation).items()
        }
    return [
        *_of_columns(session, layout),
        *_of_properties(layout, held),
        *_of_fields(layout, real),
        *_of_comment(layout, real),
        *constraint_drift(session, layout, held, table_format),
    ]


def _is_of_protocol(key: str) -> bool:
    return key.startswith(_FEATURE) or key in _VERSIONS


def _of_fields(layout: Layout, real: RealLayout) -> Iterator[Drift]:
    if _fields(layout.partition_by) != _fields(real.partition_by):
        yield Drift(_differing("partitioned by", real.partition_by, layout.partition_by))
    if _fields(layout.cluster_by) != _fields(real.cluster_by):
        # A model that says nothing has not asked for a clustering to end.
        remedy = (ddl.cluster_by(layout.relation, layout.cluster_by),) if layout.cluster_by else ()
        yield Drift(_differing("clustered by", real.cluster_by, layout.cluster_by), remedy)
    if [sort_key(item) for item in layout.sort_by] != [sort_key(item) for item in real.sort_by]:
        order = (ddl.order_by(layout.relation, layout.sort_by),) if layout.sort_by else ()
        yield Drift(_differing("sorted by", real.sort_by, layout.sort_by), order)


def _of_comment(layout: Layout, real: RealLayout) -> Iterator[Drift]:
    if layout.comment and real.comment is not None and layout.comment != real.comment:
        yield Drift(
            "its comment is another than the description", (ddl.comment_table(layout.relation, layout.comment),)
        )


def _differing(what: str, real: Sequence[str], declared: Sequence[str]) -> str:
    return f"{what} ({', '.join(real)}), declared ({', '.join(declared)})"


def _of_properties(layout: Layout, held: Mapping[str, str]) -> Iterator[Drift]:
    # A protocol's versions can no longer be raised once it has features.
    for key, value in sorted(layout.properties.items(), key=lambda item: item[0].lower() not in _VERSIONS):
        real = held.get(key.lower())
        if real is None or not _same_value(key.lower(), real.lower(), value.lower()):
            words = f"property {key} is {real or 'not set'}, declared {value}"
            yield Drift(words, (ddl.set_properties(layout.relation, {key: value}),))


def _same_value(key: str, real: str, declared: str) -> bool:
    if key.startswith(_FEATURE):
        return True  # a table has a feature, or has not: "supported" and "enabled" are the same
    if key in _VERSIONS and declared.isdecimal():
        return int(real) >= int(declared)
    return real == declared


def _fields(columns: Sequence[str]) -> list[tuple[str, str, int | None]]:
    """Columns, and the transforms of a partitioning, however they are spelled."""
    fields = [partition_field(column) for column in columns]
    return [(field.column.lower(), field.transform, field.parameter) for field in fields]


def sort_key(item: str) -> tuple[str, str, int | None, str, str]:
    """An item of a sort order, however it is spelled: column, transform and its number, direction, place of NULLs."""
    found = _SORT_ITEM.match(item.strip())
    term, direction, nulls = found.groups() if found else (item, None, None)
    field = partition_field(term)
    direction = (direction or "asc").lower()
    nulls = (nulls or ("first" if direction == "asc" else "last")).lower()
    return field.column.lower(), field.transform, field.parameter, direction, nulls


class ColumnDifference(NamedTuple):
    """How one column of a table differs from the declared one, as text; `missing`: the table has no such column."""

    column: str
    words: str
    missing: bool = False


def column_differences(
    session: SparkSession, declared: Sequence[Column], fields: Iterable[StructField]
) -> Iterator[ColumnDifference]:
    """Yield where real columns differ from the declared ones. Raises EngineError.

    Where a declared column has no type there may be others that are not declared.
    """
    real = {field.name.lower(): field for field in fields}
    types = _simple_types(session, [column.data_type for column in declared if column.data_type is not None])
    for column in declared:
        field = real.pop(column.name.lower(), None)
        if field is None:
            yield ColumnDifference(column.name, f"column {column.name} is missing", missing=True)
        elif column.data_type is not None and field.dataType.simpleString() != types[column.data_type]:
            real_type = field.dataType.simpleString()
            words = f"column {column.name} is {real_type}, declared {types[column.data_type]}"
            yield ColumnDifference(column.name, words)
    if all(column.data_type for column in declared):
        for field in real.values():
            yield ColumnDifference(field.name, f"column {field.name} is not declared")


def new_columns(session: SparkSession, layout: Layout, shape: str | None) -> Iterator[Drift]:
    """Yield the columns that a first build would give the table of a layout and that it lacks. Raises EngineError.

    `shape` is the query whose columns a new table gets where none are declared. A column is added without NOT NULL, a
    default and checks: the rows that are there have no value in it.
    """
    real = {name.lower() for name in session.table(str(layout.relation)).columns}
    wanted = [column for column in layout.columns if column.data_type is not None]
    untyped = {column.name.lower(): column for column in layout.columns if column.data_type is None}
    if shape is not None and (untyped or not layout.columns):
        known = {column.name.lower() for column in wanted}
        for field in analyse(session, shape).fields:
            own = untyped.pop(field.name.lower(), None) or Column(field.name)
            if field.name.lower() not in known:
                wanted.append(replace(own, data_type=field.dataType.simpleString()))
    for column in untyped.values():
        if column.name.lower() not in real:
            words = f"column {column.name} is missing: declare its data_type, and the next build adds it"
            yield Drift(words, missing=(column.name,))
    missing = [column for column in wanted if column.name.lower() not in real]
    for column in missing:
        if is_generated(column):
            words = f"column {column.name} is missing: no ALTER adds a generated column; build with --full-refresh"
            yield Drift(words, missing=(column.name,))
    added = [replace(column, nullable=True, generated=None) for column in missing if not is_generated(column)]
    if added:
        names = ", ".join(column.name for column in added)
        subject = f"column {names}" if len(added) == 1 else f"columns {names}"
        yield Drift(
            f"{subject} could not be added",
            (ddl.add_columns(layout.relation, added),),
            done=f"{subject} added",
            missing=tuple(column.name for column in added),
        )


def _of_columns(session: SparkSession, layout: Layout) -> Iterator[Drift]:
    if layout.columns:
        fields = session.table(str(layout.relation)).schema.fields
        for found in column_differences(session, layout.columns, fields):
            if found.missing:
                yield Drift(f"{found.words}: {_ADVICE[layout.on_schema_change]}", missing=(found.column,))
            else:
                yield Drift(found.words)


_APPEND = "write `on_schema_change: append_new_columns` in the model's config to add it, or build with --full-refresh"
_ADVICE: Mapping[OnSchemaChange, str] = {
    "ignore": _APPEND,
    "fail": _APPEND,
    "append_new_columns": "a build without --branch adds it",
}


def _simple_types(session: SparkSession, types: Sequence[str]) -> dict[str, str]:
    """Spark's short name of each type text, as the schema of a table has it: a varchar is a string there."""
    if not types:
        return {}
    casts = ", ".join(f"CAST(NULL AS {data_type})" for data_type in types)
    fields = analyse(session, f"SELECT {casts}").fields
    return {data_type: field.dataType.simpleString() for data_type, field in zip(types, fields, strict=True)}
