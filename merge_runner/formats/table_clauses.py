"""The partitioning, clustering and columns that a table is created with, and why a format refuses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from merge_runner.formats.lines import RECOMMENDED, Line
from merge_runner.formats.types import DataType, parse_type

NESTED = ("struct", "array", "map", "variant")
_NO_VARIANT = ("3.5",)
"""The lines of Spark whose parser knows no VARIANT (PARSE_SYNTAX_ERROR or UNSUPPORTED_DATATYPE, Spark 3.5.9)."""


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


@dataclass(frozen=True)
class DeclaredTable:
    """A table as it is declared; no columns: they are not known."""

    partition_by: Sequence[str] = ()
    cluster_by: Sequence[str] = ()
    columns: Sequence[DeclaredColumn] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    line: Line = RECOMMENDED
    """The line of Spark that creates it."""

    @cached_property
    def types(self) -> Mapping[str, DataType | None]:
        """The types of the columns by name without case; None for one that is not known."""
        return {column.name.casefold(): parse_type(column.data_type) for column in self.columns}

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """The properties by name in lower case."""
        return {key.lower(): value for key, value in self.properties.items()}


def variant_faults(table: DeclaredTable) -> Iterator[ClauseFault]:
    """Yield the columns that are or hold a VARIANT, where the line of Spark has no such type."""
    if table.line.spark not in _NO_VARIANT:
        return
    for column in table.columns:
        data_type = table.types[column.name.casefold()]
        if data_type is not None and data_type.holds("variant"):
            message = f'{table.line} has no type for the column "{column.name}", a VARIANT'
            yield ClauseFault("columns", column.name, message, "keep it as a string, and read it with from_json")
