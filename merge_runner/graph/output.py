"""How selected nodes are listed: by name or path, as JSON lines, as levels, as a Graphviz drawing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from merge_runner.graph.graph import Graph, ModelNode, Node
from merge_runner.graph.manifest import entry
from merge_runner.graph.order import contracted, levels

Form = Literal["name", "path", "json", "levels", "dot"]

_JSON_KEYS = (
    "name",
    "resource_type",
    "package_name",
    "original_file_path",
    "unique_id",
    "alias",
    "source_name",
    "config",
    "tags",
    "depends_on",
)
"""The keys of `dbt ls --output json`; a node leaves out those that it does not have."""

_SHAPES = {
    "model": "box",
    "seed": "folder",
    "source": "cylinder",
    "test": "ellipse",
    "unit_test": "ellipse",
    "exposure": "note",
    "analysis": "note",
}


def output(
    graph: Graph,
    ids: Sequence[str],
    form: Form,
    keys: Sequence[str] = (),
    extra_values: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[str]:
    """The lines, without newlines, that list the nodes `ids`: in their order, except where the form has its own.

    `keys` are those of JSON; none: those of dbt. `extra_values` has values of models that the project itself does
    not have, by key and id.
    """
    nodes = [graph.nodes[unique_id] for unique_id in ids]
    if form == "name":
        yield from (node.full_name for node in nodes)
    elif form == "path":
        yield from (node.path for node in nodes)
    elif form == "json":
        yield from (_json(graph, node, keys or _JSON_KEYS, extra_values or {}) for node in nodes)
    elif form == "levels":
        yield from _levels(graph, ids)
    else:
        yield from _dot(graph, ids)


def _json(graph: Graph, node: Node, keys: Sequence[str], extra_values: Mapping[str, Mapping[str, Any]]) -> str:
    values = entry(graph, node)
    if isinstance(node, ModelNode):
        values |= {key: of_models.get(node.unique_id) for key, of_models in extra_values.items()}
    return json.dumps({key: values[key] for key in keys if key in values}, ensure_ascii=False)


def _levels(graph: Graph, ids: Sequence[str]) -> Iterator[str]:
    for number, level in enumerate(levels(graph, ids), start=1):
        yield f"level {number}: {', '.join(graph.nodes[unique_id].full_name for unique_id in level)}"


def _dot(graph: Graph, ids: Sequence[str]) -> Iterator[str]:
    yield f"digraph {dot_text(graph.project)} {{"
    yield "  rankdir=LR;"
    for unique_id in ids:
        node = graph.nodes[unique_id]
        label, shape = dot_text(node.full_name), _SHAPES[node.resource_type]
        yield f"  {dot_text(unique_id)} [label={label}, shape={shape}];"
    for parent, child in sorted(contracted(graph, ids).edges):
        yield f"  {dot_text(parent)} -> {dot_text(child)};"
    yield "}"


def dot_text(text: str) -> str:
    """Return a string of the DOT language. In labels a backslash is an escape of DOT's, so it is doubled too."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
