"""The tables of a project whose layouts can be recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from merge_runner.formats.registry import capabilities, table_format_of
from merge_runner.graph.graph import RefNode, SourceNode
from merge_runner.graph.naming import table_location
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import TableInput


def recordable_tables(prepared: Prepared) -> tuple[TableInput, ...]:
    """The tables, each once, sorted by name; views and sources that are files are none."""
    tables = {item.relation.name.casefold(): item for item in _tables(prepared)}
    return tuple(tables[name] for name in sorted(tables))


def _tables(prepared: Prepared) -> Iterator[TableInput]:
    root, profile = prepared.files.root, prepared.files.profile
    for node in prepared.graph.nodes.values():
        if node.relation is None or node.materialized in ("view", "ephemeral"):
            continue
        if isinstance(node, RefNode):
            location = table_location(root, profile, node.relation, node.config.format)
            yield TableInput(node.relation, node.config.format, location)
        elif isinstance(node, SourceNode):
            path, format_name = node.config.path, node.config.format
            format = table_format_of(format_name)
            if path is None:
                yield TableInput(node.relation, format_name or "", None)
            elif format is not None and not capabilities(format).needs_catalog and "://" not in path:
                yield TableInput(node.relation, format, Path((root / path).absolute()))
