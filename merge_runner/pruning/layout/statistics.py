"""Which columns of a table have file statistics, by its layout."""

from __future__ import annotations

from typing import Literal

from merge_runner.formats.types import DataType
from merge_runner.pruning.layout.layout import TableLayout

Metrics = Literal["none", "counts", "bounds"]

ICEBERG_INFERRED = 100
"""Columns that get bounds where no metrics mode names them: `write.metadata.metrics.max-inferred-column-defaults`."""


def leaf_type(layout: TableLayout, path: tuple[str, ...]) -> DataType | None:
    """The type of a column, or of a field of a struct; None where it is unknown."""
    column = layout.column(path[0])
    data_type = column.data_type if column is not None else None
    for name in path[1:]:
        if data_type is None or data_type.name != "struct":
            return None
        data_type = next((field for key, field in data_type.fields if key.casefold() == name.casefold()), None)
    return data_type


def is_indexed(layout: TableLayout, path: tuple[str, ...]) -> bool | None:
    """Whether Delta collects statistics for a column or field of a struct; None where its position is unknown.

    Named columns (`delta.dataSkippingStatsColumns`) count whatever their position, a struct for all its fields;
    else the first `indexed` leaves do, partition columns not counted.
    """
    folded = tuple(name.casefold() for name in path)
    if layout.statistics is not None:
        paths = [tuple(part.casefold() for part in item.replace("`", "").split(".")) for item in layout.statistics]
        return any(folded[: len(item)] == item for item in paths)
    if layout.is_clustered(path[0]) is True or layout.indexed == -1:
        return True
    if layout.indexed is None:
        return None
    at = _position(layout, folded)
    if at is None:
        return None
    position, certain = at
    if position >= layout.indexed:
        return False
    return True if certain else None


def iceberg_metrics(layout: TableLayout, path: tuple[str, ...]) -> Metrics | None:
    """What Iceberg keeps of a column in a file: its metrics mode, and its place among the first hundred.

    The places count from above: all plain columns come before the fields of structs.
    """
    properties = {key.casefold(): value.strip().casefold() for key, value in layout.properties.items()}
    prefix = "write.metadata.metrics."
    mode = properties.get(f"{prefix}column.{'.'.join(path)}".casefold()) or properties.get(f"{prefix}default")
    if mode is not None:
        return "none" if mode == "none" else "counts" if mode == "counts" else "bounds"
    limit = properties.get(f"{prefix}max-inferred-column-defaults", str(ICEBERG_INFERRED))
    before = _before(layout, tuple(name.casefold() for name in path))
    if before is None or not limit.isdigit():
        return None
    if before[0] >= int(limit):
        return "none"
    return "bounds" if before[1] else None


def _before(layout: TableLayout, folded: tuple[str, ...]) -> tuple[int, bool] | None:
    """How many columns get their metrics before this one at the least, and whether that is certain."""
    columns = layout.columns or ()
    certain = layout.complete and all(column.data_type is not None for column in columns)
    plain = [column for column in columns if column.data_type is None or not column.data_type.fields]
    if len(folded) == 1:
        at = next((at for at, column in enumerate(plain) if column.name.casefold() == folded[0]), None)
        return None if at is None else (at, certain)
    position = len(plain)
    for column in columns:
        if column.name.casefold() == folded[0]:
            inside = _inside(column.data_type, folded[1:])
            return None if inside is None else (position + inside, certain)
        if column.data_type is not None and column.data_type.fields:
            position += column.data_type.leaves
    return None


def _position(layout: TableLayout, folded: tuple[str, ...]) -> tuple[int, bool] | None:
    """How many leaves precede a column at the least, and whether that is certain."""
    position, certain = 0, layout.complete and layout.partition_by is not None
    for column in layout.columns or ():
        if column.name.casefold() == folded[0]:
            inside = _inside(column.data_type, folded[1:])
            return (position + inside, certain) if inside is not None else None
        if layout.is_partition(column.name):
            continue
        position += column.data_type.leaves if column.data_type is not None else 1
        certain = certain and column.data_type is not None
    return None


def _inside(data_type: DataType | None, path: tuple[str, ...]) -> int | None:
    """How many leaves of a struct precede one of its fields."""
    if not path:
        return 0
    if data_type is None or data_type.name != "struct":
        return None
    position = 0
    for name, field in data_type.fields:
        if name.casefold() == path[0]:
            below = _inside(field, path[1:])
            return None if below is None else position + below
        position += field.leaves
    return None
