"""Which partitioning, clustering and columns Iceberg refuses when a table is created (Spark 4.1.4, Iceberg 1.12.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from merge_runner.formats.table_clauses import NESTED, ClauseFault, DeclaredColumn, DeclaredTable, variant_faults
from merge_runner.formats.types import DataType

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


def clause_faults(table: DeclaredTable) -> Iterator[ClauseFault]:
    """Yield everything for which Iceberg refuses to create the table."""
    if table.cluster_by:
        hint = "partition by it; a sort order is set with ALTER TABLE … WRITE ORDERED BY, in a post_hook"
        yield ClauseFault("cluster_by", table.cluster_by[0], "Iceberg tables have no CLUSTER BY", hint)
    yield from _partitioning(table.partition_by, table.types)
    yield from _columns(table.columns, table.types, table.folded)
    yield from variant_faults(table)


def _partitioning(items: Sequence[str], types: Mapping[str, DataType | None]) -> Iterator[ClauseFault]:
    for item in items:
        call = _CALL.match(item)
        column = item if call is None else _column(call[2])
        data_type = types.get(column.strip("` ").casefold())
        if call is None:
            if data_type is not None and data_type.name in NESTED:
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
    return next((argument for item in arguments.split(",") if not (argument := item.strip()).isdigit()), "")


def _transforms(transform: str, data_type: str) -> bool:
    if transform in _TIMES:
        return data_type in _TIMES[transform]
    if transform == "bucket":
        return data_type not in (*_NOT_BUCKETED, *NESTED)
    return data_type in _TRUNCATED


def _columns(
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
    version = properties.get("format-version", "2").strip()
    return int(version) if version.isdigit() else 3
