"""The types of a layout file: written by hand, or recorded by `debug --write-catalog`, about existing tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from merge_runner.errors import Problems
from merge_runner.project.schema.config import Count, Names
from merge_runner.project.schema.yaml_types import Many, Name, Texts
from merge_runner.project.syntax.annotations import CLOSED, StrictBool
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.validate import validate
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.project_file import Boundary
from merge_runner.text import Place

RECORDED = "catalog.yml"
"""The recorded catalog of a project, in its folder."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_KEYWORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""Words that some reader of YAML takes for something else than text."""


@dataclass(frozen=True)
class FileColumn:
    """A column. What is absent is unknown; `generated` is the expression of a generated column."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The name of the column. Example: `name: order_date`"""
    data_type: str | None = None
    """The Spark type. Not set: unknown. Example: `data_type: date`"""
    nullable: StrictBool | None = None
    """Whether the column may contain NULL. Not set: unknown. Example: `nullable: false`"""
    generated: str | None = None
    """The expression of a generated column. Example: `generated: cast(ordered_at as date)`"""
    filled: StrictBool = False
    """Whether the column gets a value where INSERT leaves it out: an identity, or a column with a DEFAULT.
    Example: `filled: true`"""


@dataclass(frozen=True)
class FileTable:
    """A table. `columns` are all of them, in their order; what is absent is unknown, an empty list says none.

    `files` and `bytes` are how much data it held when it was recorded.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    name: Name
    """The table, as MERGE statements name it: `[catalog.]schema.table`. Example: `name: shop.fct_order`"""
    format: Literal["delta", "iceberg", "parquet", "orc", "avro", "csv", "json", "xml", "text"] | None = None
    """The format of the table. Example: `format: delta`"""
    partition_by: Names | None = None
    """The partition columns or transforms. Not set: unknown; `[]`: not partitioned.
    Example: `partition_by: [order_date]`"""
    cluster_by: Names | None = None
    """The clustering columns. Not set: unknown; `[]`: not clustered. Example: `cluster_by: [customer_id]`"""
    sort_by: Names | None = None
    """The sort order of an Iceberg table. Not set: unknown; `[]`: none. Example: `sort_by: [customer_id]`"""
    columns: tuple[FileColumn, ...] | None = None
    """All columns of the table, in their order. Example: `columns: [{name: order_id, data_type: bigint}]`"""
    statistics: Names | None = None
    """The columns that have file statistics (minimum and maximum), by which files are skipped. Not set: as the
    properties say.
    Example: `statistics: [order_id, order_date]`"""
    properties: Texts = field(default_factory=dict)
    """Table properties. Example: `properties: {delta.enableDeletionVectors: "true"}`"""
    unique: Many[Names] = ()
    """Sets of columns whose values are unique. Example: `unique: [[order_id], [customer_id, ordered_at]]`"""
    files: Count | None = None
    """How many data files the table had when it was recorded. Example: `files: 365`"""
    bytes: Count | None = None
    """How many bytes the data files had when the table was recorded. Example: `bytes: 1048576`"""
    commits: Mapping[str, Mapping[str, Count]] = field(default_factory=dict)
    """How many commits each text of a model has made, by the id of the model and the hash of the text.
    Example: `commits: {model.shop.fct_order: {b51c0d2e8f7a9461: 27, unknown: 4}}`"""


@dataclass(frozen=True)
class LayoutFile:
    """A whole layout file, and the places of its keys and values."""

    tables: tuple[FileTable, ...]
    tree: YamlTree


@dataclass(frozen=True)
class LayoutFileContent:
    """A layout file as it is written."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    version: Literal[1]
    """The version of the file format: 1. Example: `version: 1`"""
    tables: Many[FileTable] = ()
    """The tables. Example: `tables: [{name: shop.fct_order, format: delta}]`"""


_ELSEWHERE: Mapping[str, str] = {
    "type": 'the key is "data_type"',
    "models": 'all tables are in one list, "tables"',
    "sources": 'all tables are in one list, "tables"',
    "file_format": 'the key is "format"',
    "tblproperties": 'the key is "properties"',
    "unique_key": 'the key is "unique", a list of lists of columns',
}


def read_layout_file(file: Path, path: str, problems: Problems, boundary: Boundary | None) -> LayoutFile | None:
    """The content of a layout file (YAML, or JSON), named `path` in places; None, with problems, where that fails.

    It is inside of the boundary; None is for a file that the user has named.
    """
    source = read_text(file, path, problems, boundary)
    tree = yaml_tree(source, problems) if source is not None else None
    if tree is None:
        return None
    if tree.data is None:
        problems.add("missing-key", "the layout file is empty", Place(path, 1, 1), 'write "version: 1" and "tables:"')
        return None
    content = validate(LayoutFileContent, tree.data, tree, problems, of="the layout file", elsewhere=_ELSEWHERE)
    return LayoutFile(content.tables, tree) if content is not None else None


def layout_file_text(tables: Sequence[FileTable], head: str) -> str:
    """The text of a layout file: tables by name, a line for each column, what is unknown left out.

    `head` is a comment of one line.
    """
    lines = [f"# {head}", "version: 1", "tables:" if tables else "tables: []"]
    for table in sorted(tables, key=lambda table: table.name):
        lines.append(f"  - name: {_scalar(table.name)}")
        for key in ("format", "partition_by", "cluster_by", "sort_by", "statistics"):
            value = getattr(table, key)
            if value is not None:
                lines.append(f"    {key}: {_scalar(value) if isinstance(value, str) else _sequence(value)}")
        lines += [f"    {key}: {count}" for key in ("files", "bytes") if (count := getattr(table, key)) is not None]
        if table.properties:
            lines.append("    properties:")
            lines += [f"      {_scalar(key)}: {_scalar(value)}" for key, value in sorted(table.properties.items())]
        if table.commits:
            lines.append("    commits:")
            lines += [f"      {_scalar(node)}: {_counts(counts)}" for node, counts in sorted(table.commits.items())]
        if table.unique:
            lines.append(f"    unique: [{', '.join(_sequence(names) for names in table.unique)}]")
        if table.columns is not None:
            lines.append("    columns:" if table.columns else "    columns: []")
            lines += [f"      - {_column(column)}" for column in table.columns]
    return "\n".join(lines) + "\n"


def _column(column: FileColumn) -> str:
    parts = {"name": column.name, "data_type": column.data_type, "generated": column.generated}
    words = [f"{key}: {_scalar(value)}" for key, value in parts.items() if value is not None]
    if column.nullable is not None:
        words.insert(len(words) - (column.generated is not None), f"nullable: {str(column.nullable).lower()}")
    if column.filled:
        words.append("filled: true")
    return "{" + ", ".join(words) + "}"


def _counts(counts: Mapping[str, int]) -> str:
    return "{" + ", ".join(f"{_scalar(text)}: {count}" for text, count in counts.items()) + "}"


def _sequence(names: Iterable[str]) -> str:
    return "[" + ", ".join(_scalar(name) for name in names) + "]"


def _scalar(text: str) -> str:
    """A text that YAML reads as this very text: plain where it is a word, else in quotes."""
    if _WORD.fullmatch(text) and text.lower() not in _KEYWORDS:
        return text
    # YAML allows no unprintable characters, and JSON's surrogate pairs are no escape of YAML's.
    signs = (
        character if character.isprintable() else f"\\U{ord(character):08x}" for character in text.replace("\\", r"\\")
    )
    return '"' + "".join(signs).replace('"', r"\"") + '"'
