"""The node of a table of a source; columns and checksums as nodes have them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from merge_runner.graph.graph import SourceNode
from merge_runner.graph.streams import batch_view
from merge_runner.project.load.files import SourceEntry
from merge_runner.project.schema.properties import Constraint
from merge_runner.relation import Relation


def source_node(project: str, key: tuple[str, str], entry: SourceEntry) -> SourceNode:
    """Return the node of a table of a source."""
    source, table = key
    source_table = entry.table
    relation = Relation(source_table.identifier or table, source_table.schema or source, source_table.catalog)
    if source_table.stream is not None:
        relation = batch_view(source, table)
    return SourceNode(
        unique_id=f"source.{project}.{source}.{table}",
        name=table,
        path=entry.place.path,
        fqn=(project, source, table),
        place=entry.place,
        relation=relation,
        config=source_table,
        tags=entry.tags,
        checksum=checksum(repr(source_table)),
        description=source_table.description or "",
        columns=columns_as_json(source_table.columns),
        meta=entry.meta,
        files=(source_table.path,) if source_table.path else (),
        source_name=source,
    )


def columns_as_json(columns: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return declared columns as the manifest has them, by name."""
    return {
        column.name: {
            "name": column.name,
            "description": column.description or "",
            "data_type": column.data_type,
            "constraints": [_of_column(constraint) for constraint in column.constraints],
            "meta": {**column.meta, **column.config.meta},
            "tags": list(dict.fromkeys((*column.tags, *column.config.tags))),
        }
        for column in columns
    }


def _of_column(constraint: Constraint) -> dict[str, Any]:
    """Return a constraint as dbt has it on a column: that names no columns."""
    return {key: value for key, value in asdict(constraint).items() if key != "columns"}


def checksum(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
