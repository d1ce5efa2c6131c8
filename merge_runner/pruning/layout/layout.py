"""The known layout of a table: format, columns, partitioning, clustering, statistics.

Everything may be unknown, and unknown stays unknown: None is neither yes nor no.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from merge_runner.formats import Format
from merge_runner.formats.capabilities import Capabilities
from merge_runner.formats.lines import RECOMMENDED, Line
from merge_runner.formats.registry import capabilities
from merge_runner.formats.types import DataType
from merge_runner.merge.syntax.placeholder import has_placeholder

Identity = Literal["always", "by default"]

_TRANSFORM = re.compile(r"\s*(\w+)\s*\((.*)\)\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class TableColumn:
    """A column. `data_type`, `nullable` None: unknown. `generated` is the expression of a generated column.

    `filled`: where INSERT leaves it out it gets a value, as an identity or a column with a DEFAULT. `identity` is how
    an identity is generated.
    """

    name: str
    data_type: DataType | None = None
    nullable: bool | None = None
    generated: str | None = None
    filled: bool = False
    identity: Identity | None = None

    def has_field(self, name: str) -> bool | None:
        """Whether it has a field of this name; None where its type is not known."""
        return None if self.data_type is None else self.data_type.has_field(name)


@dataclass(frozen=True)
class PartitionField:
    """One field of a table's partitioning: a column by itself (`identity`), or an Iceberg transform of it.

    `transform` is `identity`, `years`, `months`, `days`, `hours`, `bucket` or `truncate`; `parameter` is the number of
    buckets or the width.
    """

    column: str
    transform: str = "identity"
    parameter: int | None = None

    def __str__(self) -> str:
        if self.transform == "identity":
            return self.column
        inside = f"{self.parameter}, {self.column}" if self.parameter is not None else self.column
        return f"{self.transform}({inside})"


@dataclass(frozen=True)
class TableLayout:
    """What is known of a table. Names of columns compare without case, as in Spark.

    `columns` None: unknown; `complete` says that `columns` are all of them in the table's order. `partition_by` and
    `cluster_by` None: unknown; () none. `sort_by` are other columns of which a file holds a range: the first of
    a sort order, those of a Z-order. `statistics` names the columns that have file statistics whatever their
    position (`delta.dataSkippingStatsColumns`); else the first `indexed` leaves have them (-1: all).
    `properties` are the table properties that are known. `unique` are sets of columns without duplicates. `files` and
    `bytes` are how much data there was when the layout was recorded, `commits` how many each text of a model had made,
    by the model's id and the text's hash. `line` is the Spark that merges into the table.
    """

    format: Format | None = None
    columns: tuple[TableColumn, ...] | None = None
    complete: bool = False
    partition_by: tuple[PartitionField, ...] | None = None
    cluster_by: tuple[str, ...] | None = None
    sort_by: tuple[str, ...] | None = None
    statistics: tuple[str, ...] | None = None
    indexed: int | None = 32
    properties: Mapping[str, str] = field(default_factory=dict)
    unique: tuple[frozenset[str], ...] = ()
    files: int | None = None
    bytes: int | None = None
    commits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    line: Line = RECOMMENDED

    @property
    def capabilities(self) -> Capabilities | None:
        """What is true of the table's format; None where it is not known."""
        return capabilities(self.format) if self.format is not None else None

    def column(self, name: str) -> TableColumn | None:
        """The column with this name, where known."""
        return self._by_name.get(name.casefold())

    @cached_property
    def _by_name(self) -> dict[str, TableColumn]:
        return {column.name.casefold(): column for column in reversed(self.columns or ())}

    def has_column(self, name: str) -> bool | None:
        """Whether the table has the column; None where its columns are not all known, or the name is not."""
        if self.column(name) is not None:
            return True
        if has_placeholder(name):
            return None
        return False if self.complete and self.columns is not None else None

    def has_field(self, column: str, name: str) -> bool | None:
        """Whether a column has a field; None where its type is not known."""
        struct = self.column(column)
        return None if struct is None else struct.has_field(name)

    def column_names(self) -> list[str]:
        """The names of the columns that are known, in their order."""
        return [column.name for column in self.columns or ()]

    @property
    def names_known(self) -> bool:
        """Whether the names of all columns are known."""
        return self.complete and self.columns is not None

    def is_generated(self, name: str) -> bool | None:
        """Whether the column is computed from others; None where the column is not known."""
        column = self.column(name)
        return None if column is None else column.generated is not None

    def partition_field(self, name: str) -> PartitionField | None:
        """The first field of the partitioning that is made of this column."""
        folded = name.casefold()
        return next((item for item in self.partition_by or () if item.column.casefold() == folded), None)

    def is_partition(self, name: str) -> bool | None:
        """Whether the table is partitioned by this column itself; None where that is unknown."""
        if self.partition_by is None or (self.partition_by and has_placeholder(name)):
            return None
        folded = name.casefold()
        return any(item.column.casefold() == folded and item.transform == "identity" for item in self.partition_by)

    def is_clustered(self, name: str) -> bool | None:
        """Whether the table is clustered by this column; None where that is unknown."""
        if self.cluster_by is None or (self.cluster_by and has_placeholder(name)):
            return None
        return name.casefold() in {item.casefold() for item in self.cluster_by}

    def is_laid_out(self, name: str) -> bool:
        """Whether the table is known to be partitioned, clustered or sorted by this column."""
        is_sorted = name.casefold() in {item.casefold() for item in self.sort_by or ()}
        return is_sorted or self.partition_field(name) is not None or self.is_clustered(name) is True

    def with_format(self, name: Format) -> TableLayout:
        """The same layout in another format."""
        return replace(self, format=name)


UNKNOWN = TableLayout()
"""A table of which nothing is known."""


def partition_field(text: str) -> PartitionField:
    """A field as it is written in YAML or DDL: `dt`, `days(ts)`, `bucket(8, id)`."""
    match = _TRANSFORM.match(text)
    if match is None:
        return PartitionField(text.strip().strip("`"))
    name = match[1].lower()
    name = {
        "year": "years",
        "month": "months",
        "day": "days",
        "date": "days",
        "hour": "hours",
        "date_hour": "hours",
    }.get(name, name)
    arguments = [argument.strip().strip("`") for argument in match[2].split(",")]
    number = next((int(argument) for argument in arguments if argument.isdigit()), None)
    column = next((argument for argument in arguments if not argument.isdigit()), "")
    return PartitionField(column, name, number)


_SORT_DIRECTION = re.compile(r"\s(?:asc|desc|nulls)\b.*", re.IGNORECASE | re.DOTALL)


def sorted_columns(sort_by: Sequence[str], partition_by: Sequence[PartitionField]) -> tuple[str, ...]:
    """The column of which each file holds a range where rows are sorted by these items, as DDL has them; or none.

    It is the first one within a partition. `bucket` keeps no order.
    """
    partitions = {field.column.casefold() for field in partition_by if field.transform == "identity"}
    for item in sort_by:
        field = partition_field(_SORT_DIRECTION.sub("", item))
        if field.column.casefold() not in partitions:
            return () if field.transform == "bucket" else (field.column,)
    return ()


_WORD = re.compile(r"`((?:[^`]|``)+)`|'(?:[^'\\]|\\.)*'|([A-Za-z_]\w*)(?!\s*\()")


def base_columns(layout: TableLayout, name: str) -> frozenset[str]:
    """The columns (case folded) that a generated column is computed from; none for any other column."""
    column = layout.column(name)
    if column is None or column.generated is None:
        return frozenset()
    words = {(backquoted or plain or "").casefold() for backquoted, plain in _WORD.findall(column.generated)}
    return frozenset(item.name.casefold() for item in layout.columns or () if item.name.casefold() in words) - {
        name.casefold()
    }
