"""Which partitioning, clustering and columns Delta refuses when a table is created (Spark 4.1.4, Delta 4.4.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from merge_runner.formats.lines import Line
from merge_runner.formats.table_clauses import NESTED, ClauseFault, DeclaredColumn, DeclaredTable, variant_faults
from merge_runner.formats.types import DataType

_CLUSTERED = 4
"""`spark.databricks.delta.clusteredTable.numClusteringColumnsLimit`, a static conf."""
_INDEXED = 32
"""`delta.dataSkippingNumIndexedCols`."""
_NO_SKIPPING = (*NESTED, "boolean", "binary")
_NO_GENERATED = ("3.5",)
"""The lines on which CREATE TABLE takes no generated and no identity column (UNSUPPORTED_FEATURE, Delta 3.3.3)."""


def clause_faults(table: DeclaredTable) -> Iterator[ClauseFault]:
    """Yield everything for which Delta refuses to create the table."""
    yield from _partitioning(table.partition_by, table.types)
    yield from _clustering(table.partition_by, table.cluster_by, table.columns, table.types, table.folded)
    yield from _columns(table.columns, table.types, table.folded)
    yield from _generated(table.columns, table.line)
    yield from variant_faults(table)


def _partitioning(items: Sequence[str], types: Mapping[str, DataType | None]) -> Iterator[ClauseFault]:
    for item in items:
        data_type = types.get(item.casefold())
        if "(" in item:
            hint = "partition by a column `generated always as (…)`, or use `format: iceberg`"
            yield ClauseFault("partition_by", item, f"Delta cannot partition by the expression {item}", hint)
        elif data_type is not None and data_type.name in NESTED:
            message = f'Delta cannot partition by "{item}", which is of the type {data_type.name}'
            yield ClauseFault("partition_by", item, message, "partition by a column of a simple type")
    folded = [item.casefold() for item in items]
    if len(set(folded)) < len(folded):
        twice = next(item for item in items if folded.count(item.casefold()) > 1)
        yield ClauseFault("partition_by", twice, f'"{twice}" appears twice in partition_by', "keep one of them")
    if types and set(types) <= set(folded):
        message = "every column is a partition column, which Delta refuses"
        yield ClauseFault("partition_by", items[0], message, "leave one column out of partition_by")


def _clustering(
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
    name: str, columns: Sequence[DeclaredColumn], types: Mapping[str, DataType | None], properties: Mapping[str, str]
) -> bool | None:
    setting = properties.get("delta.dataskippingstatscolumns")
    if setting is not None:
        indexed = {item.strip().casefold() for item in setting.split(",")}
        return None if "`" in setting else name.casefold() in indexed
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


def _columns(
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


def _generated(columns: Sequence[DeclaredColumn], line: Line) -> Iterator[ClauseFault]:
    if line.spark not in _NO_GENERATED:
        return
    for column in columns:
        if column.generated.lower().split()[:1] == ["generated"]:
            message = f'Delta on {line} cannot create the generated column "{column.name}" by SQL'
            hint = "declare it as a plain column, and compute it in USING"
            yield ClauseFault("columns", column.name, message, hint)


def _is_identity(generated: str) -> bool:
    return generated.startswith("generated ") and " as identity" in generated
