"""--defer: what is neither selected nor built here is read where an earlier state of the project has built it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import DEFAULT, Format
from merge_runner.formats.registry import table_format_of
from merge_runner.graph.graph import Graph, RefNode
from merge_runner.graph.naming import no_folder, table_location, view_definition
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation


@dataclass(frozen=True)
class BuiltNode:
    """A model or seed as an earlier manifest.json describes it; `parents` are ids."""

    relation: Relation
    materialized: str
    format: Format
    parents: tuple[str, ...]


@dataclass(frozen=True)
class Deferral:
    """`ids` are the nodes whose refs mean the relations of `nodes`, which are all of the earlier manifest."""

    nodes: Mapping[str, BuiltNode] = field(default_factory=dict)
    ids: frozenset[str] = frozenset()


def defer(
    graph: Graph, selected: Collection[str], manifest: Mapping[str, Any], root: Path, profile: Profile
) -> Deferral:
    """Which nodes are deferred to `manifest` (see read_manifest): not selected, not built in this target, but there.

    As in dbt, a node that this target has is read here. Whether it has one is known of an embedded warehouse on this
    machine alone; where a catalog or an object store keeps the tables, every node that is not selected is deferred.
    Raises ProblemsError for tables that could not be anywhere.
    """
    selection, nodes = frozenset(selected), built_nodes(manifest)
    ids = frozenset(
        node.unique_id
        for node in graph.nodes.values()
        if isinstance(node, RefNode)
        and node.unique_id not in selection
        and node.materialized != "ephemeral"
        and node.unique_id in nodes
        and nodes[node.unique_id].materialized != "ephemeral"
        and not _is_built(node, root, profile)
    )
    return Deferral(nodes, ids)


def built_nodes(manifest: Mapping[str, Any]) -> dict[str, BuiltNode]:
    """Return the models and seeds of a manifest by id. Raises ProblemsError for tables that could not be anywhere."""
    return {
        unique_id: _built_node(entry)
        for unique_id, entry in manifest["nodes"].items()
        if entry.get("resource_type") in ("model", "seed")
    }


def _built_node(entry: Mapping[str, Any]) -> BuiltNode:
    config, depends_on = (_mapping(entry.get(key)) for key in ("config", "depends_on"))
    relation = Relation(
        str(entry.get("alias") or entry.get("name")), _name(entry.get("schema")), _name(entry.get("database"))
    )
    if no_folder(relation) is not None:
        hint = "the folder given as --state holds the artifacts of an earlier command"
        raise ProblemsError([Problem("bad-state", f"its manifest.json has a table {relation.name!r}", hint=hint)])
    nodes = depends_on.get("nodes")
    parents = tuple(str(node) for node in nodes) if isinstance(nodes, list) else ()
    format = table_format_of(config.get("format")) or DEFAULT
    return BuiltNode(relation, str(config.get("materialized")), format, parents)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _name(value: Any) -> str | None:
    return str(value) if value else None


def _is_built(node: RefNode, root: Path, profile: Profile) -> bool:
    if node.relation is None:
        return False
    if node.materialized == "view":
        place = view_definition(root, profile, node.relation)
    else:
        place = table_location(root, profile, node.relation, node.config.format)
    return isinstance(place, Path) and place.exists()
