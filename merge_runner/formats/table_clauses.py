"""Which partitioning, clustering and columns a format refuses when a table is created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from merge_runner.formats import Format
from merge_runner.formats.types import DataType, parse_type

_CLUSTERED = 4
"""`spark.databricks.delta.clusteredTable.numClusteringColumnsLimit`, a static conf."""
_INDEXED = 32
"""`delta.dataSkippingNumIndexedCols`."""
_NESTED = ("struct", "array", "map", "variant")
_NO_SKIPPING = (*_NESTED, "boolean", "binary")

_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*\Z", re.DOTALL)
_TIMES = {
    **dict.fromkeys(("year", "years"), ("date", "timestamp", "timestamp_ntz")),
    **dict.fromkeys(("month", "months"), ("date", "timestamp", "timestamp_ntz")),
    **dict.fromkeys(("day", "days", "date"), ("date", "timestamp", "timestamp_ntz")),
    **dict.fromkeys(("hour", "hours", "date_hour"), ("timestamp", "timestamp_ntz")),
}
"""Iceberg's transforms of time, and the types that they take."""
_NOT_BUCKETED = ("boolean", "float", "double")
_TRUNCATED = ("tinyint", "smallint", "int", "bigint", "decimal", "string", "varchar", "char", "binary")


@dataclass(frozen=True, slots=True)
class ClauseFault:
    """Why CREATE TABLE fails. `key` is where it is written; `subject` the column or the transform that it is about."""

    key: Literal["partition_by", "cluster_by", "columns"]
    subject: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column as it is declared: `data_type` is DDL text, `generated` what follows it (`generated always …`)."""

    name: str
    data_type: str | None = None
    generated: str = ""


def clause_faults(
    name: Format,
    partition_by: Sequence[str],
    cluster_by: Sequence[str],
    columns: Sequence[DeclaredColumn] = (),
    properties: Mapping[str, str] | None = None,
) -> Iterator[ClauseFault]:
    """Everything for which the format refuses to create the table; no columns: they are not known.

    Measured on Spark 4.1.4 with Delta 4.4.0 and Iceberg 1.12.0.
    """
    said = {key.lower(): value for key, value in (properties or {}).items()}
    types = {column.name.casefold(): parse_type(column.data_type) for column in columns}
    if name == "delta":
        yield from _delta_partitioning(partition_by, types)
        yield from _delta_clustering(partition_by, cluster_by, columns, types, said)
        yield from _delta_columns(columns, types, said)
    else:
        if cluster_by:
            hint = "partition by it; a sort order is set with ALTER TABLE … WRITE ORDERED BY, in a post_hook"
            yield ClauseFault("cluster_by", cluster_by[0], "Iceberg tables have no CLUSTER BY", hint)
        yield from _iceberg_partitioning(partition_by, types)
        yield from _iceberg_columns(columns, types, said)


def _delta_partitioning(items: Sequence[str], types: Mapping[str, DataType | None]) -> Iterator[ClauseFault]:
    for item in items:
        data_type = types.get(item.casefold())
        if "(" in item:
            hint = "partition by a column `generated always as (…)`, or use `format: iceberg`"
            yield ClauseFault("partition_by", item, f"Delta cannot partition by the expression {item}", hint)
        elif data_type is not None and data_type.name in _NESTED:
            message = f'Delta cannot partition by "{item}", which is of the type {data_type.name}'
            yield ClauseFault("partition_by", item, message, "partition by a column of a simple type")
    folded = [item.casefold() for item in items]
    if len(set(folded)) < len(folded):
        twice = next(item for item in items if folded.count(item.casefold()) > 1)
        yield ClauseFault("partition_by", twice, f'"{twice}" appears twice in partition_by', "keep one of them")
    if types and set(types) <= set(folded):
        message = "every column is a partition column, which Delta refuses"
        yield ClauseFault("partition_by", items[0], message, "leave one column out of partition_by")


def _delta_clustering(
    partition_by: Sequence[str],
    items: Sequence[str],
    columns: Sequence[DeclaredColumn],
    types: Mapping[str, DataType | None],
    properties: Mapping[str, str],
) -> Iterator[ClauseFault]:
    if not items:
        return
    if partition_by:
        message = "a Delta table cannot be both partitioned and clustered"
        yield ClauseFault("cluster_by", items[0], message, "keep one of partition_by and cluster_by")
    if len(items) > _CLUSTERED:
        message = f"Delta clusters by at most {_CLUSTERED} columns, and here are {len(items)}"
        yield ClauseFault("cluster_by", items[_CLUSTERED], message, "keep those that filters and joins use")
    if len(set(items)) < len(items):
        twice = next(item for item in items if items.count(item) > 1)
        yield ClauseFault("cluster_by", twice, f'"{twice}" appears twice in cluster_by', "keep one of them")
    for item in items:
        own = next((column.name for column in columns if column.name.casefold() == item.casefold()), None)
        data_type = types.get(item.casefold())
        if own is not None and own != item:
            message = f'CLUSTER BY compares names with case, and the column "{item}" is declared as "{own}"'
            yield ClauseFault("cluster_by", item, message, f'write "{own}"')
        elif data_type is not None and data_type.name in _NO_SKIPPING:
            message = f'Delta cannot cluster by "{item}": the type {data_type.name} has no file statistics'
            yield ClauseFault("cluster_by", item, message, "cluster by a number, a text, a date or a time")
        elif own is not None and _has_statistics(own, columns, types, properties) is False:
            message = f'Delta cannot cluster by "{item}", which has no file statistics'
            hint = "declare the column further in front, or name it in delta.dataSkippingStatsColumns"
            yield ClauseFault("cluster_by", item, message, hint)


def _has_statistics(
    name: str,
    columns: Sequence[DeclaredColumn],
    types: Mapping[str, DataType | None],
    properties: Mapping[str, str],
) -> bool | None:
    named = properties.get("delta.dataskippingstatscolumns")
    if named is not None:
        listed = {item.strip().casefold() for item in named.split(",")}
        return None if "`" in named else name.casefold() in listed
    try:
        left = int(properties.get("delta.dataskippingnumindexedcols", _INDEXED))
    except ValueError:
        return None
    if left < 0:
        return True
    for column in columns:
        if column.name == name:
            return left > 0
        data_type = types[column.name.casefold()]
        if data_type is None:
            return None
        left -= data_type.leaves
    return None


def _delta_columns(
    columns: Sequence[DeclaredColumn], types: Mapping[str, DataType | None], properties: Mapping[str, str]
) -> Iterator[ClauseFault]:
    mapped = properties.get("delta.columnmapping.mode", "none").lower() != "none"
    for column in columns:
        data_type = types[column.name.casefold()]
        if not mapped and (bad := re.search(r"[ ,;{}()\n\t=]", column.name)):
            message = f'Delta refuses the character {bad[0]!r} in the name of the column "{column.name}"'
            yield ClauseFault("columns", column.name, message, "set the property delta.columnMapping.mode = name")
        if data_type is not None and data_type.name == "interval":
            message = f'Delta has no type for the column "{column.name}", an interval'
            yield ClauseFault("columns", column.name, message, "keep the number of days or seconds")
        generated = " ".join(column.generated.lower().split())
        if generated.startswith("default ") and not properties.get("delta.feature.allowcolumndefaults"):
            message = f'the column "{column.name}" has a DEFAULT, which this Delta table does not allow'
            hint = "set the property delta.feature.allowColumnDefaults = supported"
            yield ClauseFault("columns", column.name, message, hint)
        if _is_identity(generated) and data_type is not None and data_type.name != "bigint":
            message = f'the identity column "{column.name}" is of the type {data_type}, and Delta wants bigint'
            yield ClauseFault("columns", column.name, message, "declare it as bigint")


def _is_identity(generated: str) -> bool:
    return generated.startswith("generated ") and " as identity" in generated


def _iceberg_partitioning(items: Sequence[str], types: Mapping[str, DataType | None]) -> Iterator[ClauseFault]:
    for item in items:
        call = _CALL.match(item)
        column = item if call is None else _column(call[2])
        data_type = types.get(column.strip("` ").casefold())
        if call is None:
            if data_type is not None and data_type.name in _NESTED:
                message = f'Iceberg cannot partition by "{item}", which is of the type {data_type.name}'
                yield ClauseFault("partition_by", item, message, "partition by one of its fields")
            continue
        transform = call[1].lower()
        if transform not in (*_TIMES, "bucket", "truncate"):
            message = f"Iceberg has no partition transform {transform}"
            hint = "it has years, months, days, hours, bucket(n, column) and truncate(width, column)"
            yield ClauseFault("partition_by", item, message, hint)
        elif data_type is not None and not _transforms(transform, data_type.name):
            message = f'Iceberg\'s {transform} does not take "{column.strip("` ")}", which is of the type {data_type}'
            yield ClauseFault("partition_by", item, message, "choose a transform that suits the type")


def _column(arguments: str) -> str:
    """Return the argument of a transform that is no number: the only one, or the other one."""
    return next((argument for each in arguments.split(",") if not (argument := each.strip()).isdigit()), "")


def _transforms(transform: str, data_type: str) -> bool:
    if transform in _TIMES:
        return data_type in _TIMES[transform]
    if transform == "bucket":
        return data_type not in (*_NOT_BUCKETED, *_NESTED)
    return data_type in _TRUNCATED


def _iceberg_columns(
    columns: Sequence[DeclaredColumn], types: Mapping[str, DataType | None], properties: Mapping[str, str]
) -> Iterator[ClauseFault]:
    for column in columns:
        data_type = types[column.name.casefold()]
        if column.generated:
            message = f'the column "{column.name}" is generated or has a DEFAULT, which Iceberg tables cannot have'
            yield ClauseFault("columns", column.name, message, "compute it in USING")
        elif data_type is not None and data_type.name == "interval":
            message = f'Iceberg has no type for the column "{column.name}", an interval'
            yield ClauseFault("columns", column.name, message, "keep the number of days or seconds")
        elif data_type is not None and data_type.name in ("variant", "void") and _version(properties) < 3:
            message = f'the column "{column.name}" is of the type {data_type.name}, which Iceberg has from version 3 on'
            yield ClauseFault("columns", column.name, message, "set the property format-version = 3")


def _version(properties: Mapping[str, str]) -> int:
    found = properties.get("format-version", "2").strip()
    return int(found) if found.isdigit() else 3
