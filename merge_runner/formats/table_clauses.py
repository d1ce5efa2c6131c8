"""The partitioning, clustering and columns that a table is created with, and why a format refuses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from merge_runner.formats.types import DataType, parse_type

NESTED = ("struct", "array", "map", "variant")


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

    @cached_property
    def types(self) -> Mapping[str, DataType | None]:
        """The types of the columns by name without case; None for one that is not known."""
        return {column.name.casefold(): parse_type(column.data_type) for column in self.columns}

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """The properties by name in lower case."""
        return {key.lower(): value for key, value in self.properties.items()}
