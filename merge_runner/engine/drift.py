"""Where a real table differs from the layout that the project declares, and what makes it good without writing rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from merge_runner.engine import ddl
from merge_runner.engine.constraint_drift import constraint_drift
from merge_runner.engine.delta_log import RealLayout, protocol, real_layout
from merge_runner.engine.difference import Drift
from merge_runner.engine.iceberg_layout import iceberg_layout
from merge_runner.engine.statements import analyse
from merge_runner.plan.steps import Column, Layout
from merge_runner.pruning.layout import partition_field

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

_FEATURE = "delta.feature."
_SORT_ITEM = re.compile(r"(.+?)(?:\s+(asc|desc))?(?:\s+nulls[\s_]+(first|last))?\Z", re.IGNORECASE | re.DOTALL)
_VERSIONS = ("delta.minreaderversion", "delta.minwriterversion")


def drift(session: SparkSession, layout: Layout) -> list[Drift]:
    """Where the real table differs from the layout that the project declares. Raises EngineError."""
    read = iceberg_layout if layout.format == "iceberg" else real_layout
    real = read(session, layout.relation)
    held = {key.lower(): value for key, value in real.properties.items()}
    if any(_is_of_protocol(key.lower()) for key in layout.properties):
        held |= {key.lower(): value for key, value in protocol(session, layout.relation).items()}
    return [
        *_of_columns(session, layout),
        *_of_properties(layout, held),
        *_of_fields(layout, real),
        *constraint_drift(session, layout, held),
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


def _differing(what: str, real: Sequence[str], declared: Sequence[str]) -> str:
    return f"{what} ({', '.join(real)}), declared ({', '.join(declared)})"


def _of_properties(layout: Layout, held: Mapping[str, str]) -> Iterator[Drift]:
    # A protocol's versions can be raised no more once it has features.
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


def column_differences(
    session: SparkSession, declared: Sequence[Column], fields: Iterable[StructField]
) -> Iterator[tuple[str, str]]:
    """Where real columns differ from the declared ones: the column, and the difference in words. Raises EngineError.

    Where a declared column has no type there may be others that are not declared.
    """
    real = {field.name.lower(): field for field in fields}
    types = _simple_types(session, [column.data_type for column in declared if column.data_type is not None])
    for column in declared:
        field = real.pop(column.name.lower(), None)
        if field is None:
            yield column.name, f"column {column.name} is missing"
        elif column.data_type is not None and field.dataType.simpleString() != types[column.data_type]:
            real_type = field.dataType.simpleString()
            yield column.name, f"column {column.name} is {real_type}, declared {types[column.data_type]}"
    if all(column.data_type for column in declared):
        yield from ((field.name, f"column {field.name} is not declared") for field in real.values())


def _of_columns(session: SparkSession, layout: Layout) -> Iterator[Drift]:
    if layout.columns:
        fields = session.table(str(layout.relation)).schema.fields
        yield from (Drift(words) for _, words in column_differences(session, layout.columns, fields))


def _simple_types(session: SparkSession, types: Sequence[str]) -> dict[str, str]:
    """Spark's short name of each type text, as the schema of a table has it: a varchar is a string there."""
    if not types:
        return {}
    casts = ", ".join(f"CAST(NULL AS {data_type})" for data_type in types)
    fields = analyse(session, f"SELECT {casts}").fields
    return {data_type: field.dataType.simpleString() for data_type, field in zip(types, fields, strict=True)}
