"""What the DDL of files says of their tables, at each statement: layouts, views, and how names are completed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from merge_runner.formats.registry import inferred_format
from merge_runner.lint.containers.contents import EmbeddedStatement
from merge_runner.lint.containers.ddl import AlterTable, CreateTable, CreateView, Use, read_ddl
from merge_runner.merge.syntax.placeholder import has_placeholder, is_repeatable
from merge_runner.plan.layout.layout_file import TableKey
from merge_runner.pruning.layout.layout import UNKNOWN, TableLayout
from merge_runner.pruning.layout.table_properties import with_properties
from merge_runner.pruning.query.source import KnownTable

_SESSION = "spark_catalog"
_CODE = ("python", "scala")


@dataclass(frozen=True)
class NameScope:
    """The catalog and schema that USE has set; None where it has not."""

    catalog: str | None = None
    schema: str | None = None

    def after(self, use: Use) -> NameScope:
        """Return the scope after a USE: another catalog has another current schema."""
        if use.catalog is not None:
            return NameScope(use.catalog, use.schema)
        return NameScope(self.catalog, use.schema)

    def key(self, parts: Iterable[str]) -> TableKey:
        """Return the parts of a name as they compare: complete, without case, without the session's catalog."""
        key = tuple(part.casefold() for part in parts)
        if len(key) == 1 and self.schema is not None:
            key = (*self.schema.casefold().split("."), *key)
        if len(key) == 2 and self.catalog is not None:
            key = (self.catalog.casefold(), *key)
        return key[1:] if len(key) == 3 and key[0] == _SESSION else key


@dataclass(frozen=True)
class FileTables:
    """The tables of one file. `scopes` are those of its statements, by their index, and the one after all of them.

    `versions` are the tables that the file creates: after the statement with the index each is so. `changes` are those
    of tables that another file creates.
    """

    scopes: tuple[NameScope, ...] = ()
    versions: Mapping[TableKey, Sequence[tuple[int, KnownTable]]] = field(default_factory=dict)
    changes: Mapping[TableKey, Sequence[AlterTable]] = field(default_factory=dict)

    def version(self, key: TableKey, index: int) -> KnownTable | None:
        """Return the table as it is at a statement; where the file creates it later, as it is created first."""
        versions = self.versions.get(key)
        if not versions:
            return None
        return next((table for at, table in reversed(versions) if at <= index), versions[0][1])


def file_tables(statements: Sequence[EmbeddedStatement], *, evolves: bool = False) -> FileTables:
    """Return the tables that the statements of a file describe, in their order.

    `evolves`: a MERGE of the file may add columns, so that those of CREATE TABLE need not be all.
    """
    scope = NameScope()
    scopes = []
    versions: dict[TableKey, list[tuple[int, KnownTable]]] = {}
    changes: dict[TableKey, list[AlterTable]] = {}
    for index, statement in enumerate(statements):
        scopes.append(scope)
        match read_ddl(statement.rendered.text):
            case Use() as use:
                scope = scope.after(use)
            case CreateTable() as create:
                layout = layout_of(create)
                table = KnownTable(replace(layout, complete=False) if evolves else layout)
                key = scope.key(create.name)
                if statement.container in _CODE and has_placeholder(key[-1]) and _differs(versions.get(key), table):
                    versions[key] = [(0, KnownTable(UNKNOWN))]
                else:
                    versions.setdefault(key, []).append((index, table))
            case CreateView() as view:
                versions.setdefault(scope.key(view.name), []).append(
                    (index, KnownTable(UNKNOWN, view.query, temporary=view.temporary))
                )
            case AlterTable() as alter:
                key = scope.key(alter.name)
                if key not in versions:
                    changes.setdefault(key, []).append(alter)
                elif alter.rename is not None:
                    versions.setdefault(scope.key(alter.rename), []).append((index, versions[key][-1][1]))
                else:
                    table = versions[key][-1][1]
                    versions[key].append((index, replace(table, layout=altered(table.layout, alter))))
    return FileTables((*scopes, scope), versions, changes)


def _differs(versions: Sequence[tuple[int, KnownTable]] | None, table: KnownTable) -> bool:
    """Whether a table is created in another way before: one `{table}` of code may be several tables."""
    return any(other != table for _, other in versions or ())


@dataclass(frozen=True)
class FolderTables:
    """The tables of all files that are linted together, by their paths."""

    files: Mapping[str, FileTables] = field(default_factory=dict)

    def key(self, path: str, index: int, parts: tuple[str, ...]) -> TableKey:
        """Return the complete name of a table in a statement of a file."""
        scopes = self.files[path].scopes if path in self.files else ()
        return (scopes[index] if index < len(scopes) else NameScope()).key(parts)

    def find(self, path: str, index: int, parts: tuple[str, ...]) -> KnownTable | None:
        """Return the table that a name means in a statement of a file; None where no file says anything of it.

        What the file itself creates comes first. Where other files create the table in different ways, nothing is
        known of it; nor where the table's own name is filled in at run time: `{table}` is another one in each file.
        """
        own = self.files.get(path, FileTables())
        key = self.key(path, index, parts)
        if not key or not all(map(is_repeatable, key)):
            return None
        table = own.version(key, index)
        if table is not None or has_placeholder(key[-1]):
            return table
        created, changes = self._created_tables.get(key, []), self._changes.get(key, [])
        if any(table != created[0] for table in created) or not (created or changes):
            return None
        table = created[0] if created else KnownTable(UNKNOWN)
        for change in changes:
            table = replace(table, layout=altered(table.layout, change))
        return table

    @cached_property
    def _created_tables(self) -> dict[TableKey, list[KnownTable]]:
        """The tables as each file leaves them."""
        tables: dict[TableKey, list[KnownTable]] = {}
        for file in self.files.values():
            for key, versions in file.versions.items():
                tables.setdefault(key, []).append(versions[-1][1])
        return tables

    @cached_property
    def _changes(self) -> dict[TableKey, list[AlterTable]]:
        changes: dict[TableKey, list[AlterTable]] = {}
        for file in self.files.values():
            for key, alterations in file.changes.items():
                changes.setdefault(key, []).extend(alterations)
        return changes


def layout_of(table: CreateTable) -> TableLayout:
    """Return the layout of a table as its CREATE TABLE describes it."""
    layout = TableLayout(
        format=table.format,
        columns=table.columns,
        complete=table.columns is not None,
        partition_by=table.partition_by,
        cluster_by=table.cluster_by,
    )
    return with_properties(layout, table.properties)


def altered(layout: TableLayout, change: AlterTable) -> TableLayout:
    """Return the layout of a table after an ALTER TABLE."""
    columns = layout.columns
    if columns is not None:
        columns = tuple(column for column in columns if column.name.casefold() not in change.drop)
        columns = tuple(
            replace(column, nullable=not change.not_null[column.name.casefold()])
            if column.name.casefold() in change.not_null
            else column
            for column in columns
        )
        columns = (*columns, *change.add)
    if change.unclear:
        columns = None
    fields = layout.partition_by
    if fields is not None:
        fields = (*(field for field in fields if field not in change.drop_fields), *change.add_fields)
    clusters = change.cluster_by is not None
    layout = replace(
        layout,
        columns=columns,
        complete=layout.complete and columns is not None,
        partition_by=fields,
        cluster_by=change.cluster_by if clusters else layout.cluster_by,
    )
    if layout.format is None:
        transformed = bool(change.add_fields or change.drop_fields)
        format = inferred_format(change.properties, clustered=clusters, transformed=transformed)
        layout = layout.with_format(format) if format is not None else layout
    return with_properties(layout, change.properties)
