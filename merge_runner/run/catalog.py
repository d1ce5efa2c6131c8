"""catalog.json in dbt's shape: the columns and sizes of a project's tables, read from their files or by an engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from merge_runner.atomic import write_atomic
from merge_runner.engine.table_format.stored_metadata import StoredColumn, StoredMetadata
from merge_runner.formats import Format
from merge_runner.formats.registry import table_format_of
from merge_runner.graph.artifact import Metadata
from merge_runner.graph.graph import ModelNode, Node, SourceNode
from merge_runner.graph.naming import view_definition
from merge_runner.plan.layout.recordable_tables import recordable_tables
from merge_runner.plan.load.project_context import Prepared
from merge_runner.relation import Relation
from merge_runner.run.reuse.stored_state import stored_input
from merge_runner.version import version


@dataclass(frozen=True)
class WrittenCatalog:
    """The file, how many tables and views are in it, and the names of the tables that could not be read."""

    path: Path
    count: int
    unread: tuple[str, ...]


ReadMetadata = Callable[[Relation, Format | None], StoredMetadata | None]
"""Returns what an engine says of a table of a format, or of a view (None); None where there is no such relation."""


def write_catalog(prepared: Prepared, invocation_id: str, read_metadata: ReadMetadata | None = None) -> WrittenCatalog:
    """Write target/catalog.json, and return what is in it.

    Tables that are stored on this machine are read from their files, the others and all views by `read_metadata`.
    None: they are not read.
    """
    entries: dict[str, dict[str, dict[str, Any]]] = {"nodes": {}, "sources": {}}
    unread: list[str] = []
    tables = {item.relation.name.casefold(): item for item in recordable_tables(prepared)}
    for unique_id, node in prepared.graph.nodes.items():
        if node.relation is None:
            continue
        item = tables.get(node.relation.name.casefold())
        kind, metadata = "table", None
        if item is not None:
            format = table_format_of(item.format)
            state = stored_input(item, prepared) if format is not None else None
            metadata = state.metadata() if state is not None else None
            if metadata is None and read_metadata is not None:
                metadata = read_metadata(node.relation, format)
            if metadata is None:
                unread.append(node.relation.name)
        elif isinstance(node, ModelNode) and node.materialized == "view":
            kind, metadata = "view", (read_metadata and read_metadata(node.relation, None)) or _view(prepared, node)
        if metadata is not None:
            section = "sources" if isinstance(node, SourceNode) else "nodes"
            entries[section][unique_id] = _entry(node, kind, metadata)
    document = {
        "metadata": Metadata(datetime.now(timezone.utc), invocation_id, version()).as_json("catalog/v1"),
        **entries,
        "errors": None,
    }
    path = prepared.target_path / "catalog.json"
    write_atomic(path, json.dumps(prepared.concealed(document)))
    return WrittenCatalog(path, sum(map(len, entries.values())), tuple(unread))


def _view(prepared: Prepared, node: ModelNode) -> StoredMetadata | None:
    """A view that was built, with the columns that are declared with a type; None without any."""
    if node.relation is None:
        return None
    definition = view_definition(prepared.files.root, prepared.files.profile, node.relation)
    if not isinstance(definition, Path) or not definition.exists():
        return None
    typed = ((name, column.get("data_type"), column.get("description")) for name, column in node.columns.items())
    columns = tuple(StoredColumn(name, str(kind), comment or None) for name, kind, comment in typed if kind)
    return StoredMetadata(columns) if columns else None


def _entry(node: Node, kind: str, metadata: StoredMetadata) -> dict[str, Any]:
    relation = node.relation
    return {
        "metadata": {
            "type": kind,
            "database": relation.catalog if relation is not None else None,
            "schema": (relation.schema if relation is not None else None) or "",
            "name": relation.identifier if relation is not None else node.name,
            "comment": metadata.comment or None,
            "owner": None,
        },
        "columns": {
            column.name: {"type": column.data_type, "index": index, "name": column.name, "comment": column.comment}
            for index, column in enumerate(metadata.columns, 1)
        },
        "stats": dict(_stats(metadata)),
        "unique_id": node.unique_id,
    }


def _stats(metadata: StoredMetadata) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Statistics by id, as dbt's docs show them; `has_stats` comes first, as in every entry of dbt."""
    figures = [
        ("num_files", "# Files", metadata.files, "Files of the newest version"),
        ("bytes", "Approximate Size", metadata.bytes, "Bytes of the files of the newest version"),
        ("num_rows", "# Rows", metadata.rows, "Rows of the newest version"),
    ]
    has_any = any(value is not None for _, _, value, _ in figures)
    yield "has_stats", _stat("has_stats", "Has Stats?", has_any, "Whether there are statistics of this table", False)
    for name, label, value, description in figures:
        if value is not None:
            yield name, _stat(name, label, value, description, True)


def _stat(name: str, label: str, value: bool | int, description: str, include: bool) -> dict[str, Any]:
    return {"id": name, "label": label, "value": value, "include": include, "description": description}
