"""Layouts from a file: a recorded catalog, or what `lint --layout` names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from merge_runner.errors import Problems, did_you_mean
from merge_runner.formats.registry import table_format_of
from merge_runner.formats.types import parse_type
from merge_runner.merge.expression import name_parts
from merge_runner.project.schema.layout_file import FileTable, LayoutFile, read_layout_file
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project_file import Boundary
from merge_runner.pruning.layout.layout import PartitionField, TableColumn, TableLayout, partition_field, sorted_columns
from merge_runner.pruning.layout.table_properties import with_properties
from merge_runner.pruning.query.source import KnownTable

_NUMBERED = ("bucket", "truncate")
_TRANSFORMS = frozenset({"identity", "years", "months", "days", "hours", *_NUMBERED})

TableKey = tuple[str, ...]


@dataclass(frozen=True)
class Namespace:
    """How a session completes a name: `schema` for a name of one part, `catalog` for one of two."""

    schema: str | None = None
    catalog: str = "spark_catalog"

    def key(self, parts: Iterable[str]) -> TableKey:
        """The parts as they compare: without case, without the default catalog, with the default schema."""
        key = tuple(map(str.casefold, parts))
        if len(key) == 1 and self.schema is not None:
            key = (*self.schema.casefold().split("."), *key)
        return key[1:] if len(key) == 3 and key[0] == self.catalog.casefold() else key


@dataclass(frozen=True)
class RecordedLayouts:
    """Layouts of tables by the key of their names in a Namespace."""

    namespace: Namespace = Namespace()
    tables: Mapping[TableKey, TableLayout] = field(default_factory=dict)

    def lookup(self, parts: tuple[str, ...]) -> KnownTable | None:
        """The table of a name; None where it is not in the files."""
        layout = self.tables.get(self.namespace.key(parts))
        return KnownTable(layout) if layout is not None else None


def recorded_layouts(
    files: Iterable[tuple[Path, str]], namespace: Namespace, problems: Problems, boundary: Boundary
) -> RecordedLayouts:
    """The tables of layout files (each with its name in places), those of a later file instead of an earlier one's.

    The boundary is that of the project, or of the folder that the command is about.
    """
    tables: dict[TableKey, TableLayout] = {}
    for file, path in files:
        content = read_layout_file(file, path, problems, boundary.of_named(file))
        if content is not None:
            tables |= _tables(content, namespace, problems)
    return RecordedLayouts(namespace, tables)


def _tables(file: LayoutFile, namespace: Namespace, problems: Problems) -> dict[TableKey, TableLayout]:
    tables: dict[TableKey, TableLayout] = {}
    for index, table in enumerate(file.tables):
        at: KeyPath = ("tables", index)
        parts = name_parts(table.name)
        if not 1 <= len(parts) <= 3:
            hint = "write [catalog.]schema.table, and a part with other signs in backquotes"
            message = f'"{table.name}" is no name of a table'
            problems.add("invalid-value", message, file.tree.place((*at, "name")), hint)
            continue
        key = namespace.key(parts)
        if key in tables:
            place = file.tree.place((*at, "name"))
            problems.add("duplicate-name", f"the table {table.name} is listed twice", place, "keep one of the two")
        tables[key] = _Checker(file, table, at, problems).layout()
    return tables


@dataclass(frozen=True)
class _Checker:
    file: LayoutFile
    table: FileTable
    at: KeyPath
    problems: Problems

    def layout(self) -> TableLayout:
        table = self.table
        columns = self._columns()
        partition_by = None if table.partition_by is None else tuple(self._partitions(table.partition_by))
        for key in ("cluster_by", "statistics"):
            for index, name in enumerate(getattr(table, key) or ()):
                self._check_column(name, (key, index))
        for number, names in enumerate(table.unique):
            for index, name in enumerate(names):
                self._check_column(name, ("unique", number, index))
        layout = TableLayout(
            format=table_format_of(table.format),
            columns=columns,
            complete=columns is not None,
            partition_by=partition_by,
            cluster_by=table.cluster_by,
            sort_by=None if table.sort_by is None else sorted_columns(table.sort_by, partition_by or ()),
            unique=tuple(frozenset(name.casefold() for name in names) for names in table.unique if names),
            files=table.files,
            bytes=table.bytes,
            commits=table.commits,
        )
        layout = with_properties(layout, table.properties)
        return layout if table.statistics is None else replace(layout, statistics=table.statistics)

    def _columns(self) -> tuple[TableColumn, ...] | None:
        if self.table.columns is None:
            return None
        columns: dict[str, TableColumn] = {}
        for index, column in enumerate(self.table.columns):
            data_type = parse_type(column.data_type)
            if column.data_type is not None and data_type is None:
                message = f'column {column.name}: "{column.data_type}" is no type that Spark knows'
                self._problem(message, ("columns", index, "data_type"), 'leave "data_type" out where it is unknown')
            if column.name.casefold() in columns:
                self._problem(f"the column {column.name} is listed twice", ("columns", index, "name"))
            columns[column.name.casefold()] = TableColumn(
                column.name, data_type, column.nullable, column.generated, column.filled
            )
        return tuple(columns.values())

    def _partitions(self, texts: Iterable[str]) -> Iterator[PartitionField]:
        for index, text in enumerate(texts):
            item = partition_field(text)
            at: KeyPath = ("partition_by", index)
            if item.transform not in _TRANSFORMS:
                self._problem(f"there is no transform {item.transform}", at, did_you_mean(item.transform, _TRANSFORMS))
            elif not item.column or (item.transform in _NUMBERED) != (item.parameter is not None):
                hint = "write a column, days(column), bucket(8, column) or truncate(4, column)"
                self._problem(f'"{text}" is no partition field', at, hint)
            else:
                self._check_column(item.column, at)
            yield item

    def _check_column(self, name: str, at: KeyPath) -> None:
        """A problem where a column, or the column of a field, is not among those of the table."""
        if self.table.columns is None:
            return
        columns = {column.name.casefold(): column.name for column in self.table.columns}
        folded = name.replace("`", "").casefold()
        if folded not in columns and folded.partition(".")[0] not in columns:
            self._problem(f"there is no column {name}", at, did_you_mean(name, columns.values()))

    def _problem(self, message: str, at: KeyPath, hint: str | None = None) -> None:
        place = self.file.tree.place((*self.at, *at))
        self.problems.add("invalid-value", f"table {self.table.name}: {message}", place, hint)
