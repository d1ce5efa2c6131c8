"""The graph as dbt's manifest.json, version 12, so that tools made for dbt read it.

Key names and shapes follow the schema that dbt publishes (schemas.getdbt.com/dbt/manifest/v12.json). That schema allows
no other keys, and strict readers refuse them, so all additional keys are in `config`, which is open, or in
`metadata.env`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from merge_runner.graph.artifact import Metadata
from merge_runner.graph.graph import (
    AnalysisNode,
    DataTestNode,
    ExposureNode,
    GenericTest,
    Graph,
    Macro,
    ModelNode,
    Node,
    RefNode,
    SeedNode,
    SourceNode,
    UnitTestNode,
)
from merge_runner.plain_json import plain
from merge_runner.project.schema.properties import Group
from merge_runner.project.schema.selectors import Selector
from merge_runner.relation import Relation


@dataclass(frozen=True)
class CompiledText:
    """The rendered SQL of a node, and the file it was written to, relative to the project; None: to no file."""

    code: str
    path: str | None = None


def manifest(
    graph: Graph,
    metadata: Metadata,
    *,
    compiled: Mapping[str, CompiledText] | None = None,
    selectors: Mapping[str, Selector] | None = None,
    groups: Mapping[str, Group] | None = None,
) -> dict[str, Any]:
    """The manifest as plain JSON values. `compiled` is by node id, named selections and groups are by name."""
    compiled = compiled or {}
    entries = {unique_id: entry(graph, graph.nodes[unique_id], compiled.get(unique_id)) for unique_id in graph.nodes}
    disabled: dict[str, list[dict[str, Any]]] = {}
    for node in graph.disabled:
        disabled.setdefault(node.unique_id, []).append(entry(graph, node))

    def of(*types: str) -> dict[str, Any]:
        return {key: value for key, value in entries.items() if value["resource_type"] in types}

    return {
        "metadata": {
            **metadata.as_json("manifest/v12"),
            "project_name": graph.project,
            "adapter_type": "spark",
        },
        "nodes": of("model", "seed", "test", "analysis"),
        "sources": of("source"),
        "macros": {unique_id: _macro(macro) for unique_id, macro in graph.macros.items()},
        "docs": {},
        "exposures": of("exposure"),
        "metrics": {},
        "groups": {_group_id(graph, name): _group(graph, group) for name, group in (groups or {}).items()},
        "selectors": {
            name: {"name": name, "definition": plain(selector.data), "description": selector.description}
            for name, selector in (selectors or {}).items()
        },
        "disabled": disabled,
        "parent_map": {unique_id: _parents(node) for unique_id, node in graph.nodes.items()},
        "child_map": {unique_id: sorted(graph.dag.succ[unique_id]) for unique_id in graph.nodes},
        "group_map": {name: _members(graph, name) for name in groups or {}},
        "saved_queries": {},
        "semantic_models": {},
        "unit_tests": of("unit_test"),
        "functions": {},
    }


def entry(graph: Graph, node: Node, compiled: CompiledText | None = None) -> dict[str, Any]:
    """What the manifest says of one node, as plain JSON values."""
    if isinstance(node, SourceNode):
        values = _source(graph, node)
    elif isinstance(node, UnitTestNode):
        values = _unit_test(graph, node)
    elif isinstance(node, ExposureNode):
        values = _exposure(graph, node)
    elif isinstance(node, RefNode | DataTestNode | AnalysisNode):
        values = _node(graph, node, compiled)
    else:
        raise TypeError(f"{node.unique_id} is of no kind")
    return {key: plain(value) for key, value in values.items()}


def _identity(graph: Graph, node: Node) -> dict[str, Any]:
    return {
        "unique_id": node.unique_id,
        "name": node.name,
        "resource_type": node.resource_type,
        "package_name": graph.project,
        "path": path_in_folder(node),
        "original_file_path": node.path,
        "fqn": node.fqn,
    }


def path_in_folder(node: Node) -> str:
    """The path inside the model, seed or test path; a generic test has no file, and dbt gives it one by its name."""
    if isinstance(node, SourceNode | UnitTestNode | ExposureNode):
        return node.path
    if isinstance(node, DataTestNode) and node.generic_test is not None:
        return f"{node.name}.sql"
    return "/".join((*node.fqn[1:-1], node.path.rpartition("/")[2]))


def _properties(graph: Graph, node: Node) -> dict[str, Any]:
    columns = node.columns if isinstance(node, RefNode | SourceNode | AnalysisNode) else {}
    return {
        "description": node.description,
        "columns": {name: _column(name, column) for name, column in columns.items()},
        "meta": node.meta,
        "tags": node.tags,
        "patch_path": f"{graph.project}://{node.patch_path}" if node.patch_path else None,
        "unrendered_config": node.unrendered_config if isinstance(node, ModelNode) else {},
    }


def _column(name: str, column: Mapping[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "name": name,
        "description": "",
        "data_type": None,
        "constraints": [],
        "meta": {},
        "tags": [],
    }
    return {key: column.get(key) or default for key, default in empty.items()}


def config_as_json(node: Node) -> dict[str, Any]:
    """The config of a node by its key names, as the manifest has it and `config.*` selects by it: plain JSON values.

    The schema has no null for most keys: what is not set is left out.
    """
    values: Mapping[str, Any] = {}
    if isinstance(node, ModelNode):
        values = node.config.as_json()
    elif isinstance(node, SeedNode):
        values = node.config.as_json() | {"materialized": "seed"}
    elif isinstance(node, DataTestNode):
        values = {"materialized": "test", **{key: getattr(node.config, key) for key in _OF_DATA_TESTS}}
    elif isinstance(node, SourceNode):
        values = {key: getattr(node.config, key) for key in _OF_SOURCES} | {"tags": node.tags}
        if node.config.stream is not None:
            values["stream"] = asdict(node.config.stream)
    elif isinstance(node, UnitTestNode):
        values = {"meta": node.config.meta}
    elif isinstance(node, ExposureNode):
        values = {"enabled": node.config.config.enabled}
    elif isinstance(node, AnalysisNode):
        values = {"enabled": node.config.enabled, "materialized": "view", "docs": node.config.docs or None}
    set_values = {key: value for key, value in values.items() if value is not None}
    if "docs" in set_values:
        set_values["docs"] = _docs(set_values["docs"])
    return {"enabled": True, "tags": node.tags, "meta": node.meta, **set_values}


_OF_DATA_TESTS = (
    *("enabled", "severity", "where", "limit", "error_if", "warn_if", "fail_calc", "store_failures"),
    *("tags", "meta"),
)
_OF_SOURCES = ("format", "path", "options", "partition_by", "cluster_by")
"""The keys of these kinds, in the order of the manifest."""


def _docs(docs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what dbt's schema has keys for."""
    kinds = {"show": bool, "node_color": str | None}
    return {key: docs[key] for key, kind in kinds.items() if key in docs and isinstance(docs[key], kind)}


def _names(relation: Relation | None) -> dict[str, Any]:
    """Where the table is. dbt's database is Spark's catalog, null for the catalog of the session."""
    return {"database": relation.catalog if relation else None, "schema": (relation.schema if relation else None) or ""}


def _node(graph: Graph, node: RefNode | DataTestNode | AnalysisNode, compiled: CompiledText | None) -> dict[str, Any]:
    # An ephemeral model and a test have no table of their own, whatever their relation says.
    own_table = node.relation if node.relation is not None and node.relation.sql is None else None
    values = {
        **_identity(graph, node),
        **_names(node.relation),
        **_properties(graph, node),
        "alias": node.relation.identifier if node.relation else node.name,
        "relation_name": str(own_table) if own_table else None,
        "config": config_as_json(node),
        "checksum": {"name": "sha256", "checksum": node.checksum},
        "depends_on": {"nodes": _parents(node), "macros": node.macros},
        "raw_code": node.raw_code,
        "docs": {"show": True, "node_color": None},
        "build_path": None,
    }
    contract = None
    if isinstance(node, RefNode | AnalysisNode):
        values["docs"] |= _docs(node.config.docs)
    if isinstance(node, RefNode):
        if node.config.group:
            values["group"] = node.config.group
        if isinstance(node, ModelNode):
            values["constraints"] = node.constraints
            if node.config.access:
                values["access"] = node.config.access
        contract = node.config.contract
    if isinstance(node, SeedNode):
        values["depends_on"] = {"macros": node.macros}
        return values
    parents = [graph.nodes[parent] for parent in _parents(node) if parent in graph.nodes]
    values |= {
        "language": "sql",
        "refs": _refs(parents),
        "sources": _sources(parents),
        "metrics": [],
        "compiled": compiled is not None,
        "compiled_code": compiled.code if compiled else None,
        "compiled_path": compiled.path if compiled else None,
        "extra_ctes_injected": compiled is not None,
        "extra_ctes": [],
        "contract": {"enforced": contract is not None and contract.enforced, "alias_types": True, "checksum": None},
    }
    if isinstance(node, DataTestNode) and node.generic_test is not None:
        values |= {
            "column_name": node.generic_test.column,
            "attached_node": node.generic_test.attached_node,
            "file_key_name": None,
            "test_metadata": {
                "name": node.generic_test.name,
                "kwargs": _arguments(graph, node.generic_test),
                "namespace": None,
            },
        }
    return values


def _parents(node: Node) -> list[str]:
    """The parents in dbt's order: what a generic test is attached to comes last; readers of relationships need it."""
    attached = node.generic_test.attached_node if isinstance(node, DataTestNode) and node.generic_test else None
    return sorted(node.depends_on, key=lambda parent: parent == attached)


def _arguments(graph: Graph, test: GenericTest) -> dict[str, Any]:
    """The arguments of a generic test as dbt has them: the column and the tested table too, other nodes as calls."""
    own_arguments = {
        key: _call(graph, value) if isinstance(value, str) and value in graph.nodes else value
        for key, value in test.kwargs.items()
    }
    column = {"column_name": test.column} if test.column is not None else {}
    tested = (
        {"model": f"{{{{ get_where_subquery({_call(graph, test.attached_node)}) }}}}"} if test.attached_node else {}
    )
    return {**column, **own_arguments, **tested}


def _call(graph: Graph, unique_id: str) -> str:
    node = graph.nodes[unique_id]
    return f"source('{node.source_name}', '{node.name}')" if isinstance(node, SourceNode) else f"ref('{node.name}')"


def _source(graph: Graph, node: SourceNode) -> dict[str, Any]:
    relation = node.relation
    location = node.files[0] if node.files else None
    return {
        **_identity(graph, node),
        **_names(relation),
        **_properties(graph, node),
        "source_name": node.source_name,
        "source_description": "",
        "source_meta": {},
        "loader": "",
        "identifier": relation.identifier if relation else node.name,
        "relation_name": str(relation) if relation else None,
        "external": {"location": location, "file_format": node.config.format} if location else None,
        "loaded_at_field": node.config.loaded_at_field,
        "freshness": None if node.config.freshness is None else asdict(node.config.freshness),
        "quoting": {"database": None, "schema": None, "identifier": None, "column": None},
        "config": config_as_json(node),
    }


def _group_id(graph: Graph, name: str) -> str:
    return f"group.{graph.project}.{name}"


def _group(graph: Graph, group: Group) -> dict[str, Any]:
    owner = {key: value for key, value in (("name", group.owner.name), ("email", group.owner.email)) if value}
    return {
        "name": group.name,
        "resource_type": "group",
        "package_name": graph.project,
        "path": "",
        "original_file_path": "",
        "unique_id": _group_id(graph, group.name),
        "owner": owner,
        "description": group.description or None,
        "config": dict(group.config),
    }


def _members(graph: Graph, group: str) -> list[str]:
    """The ids of the models of a group."""
    models = (node for node in graph.nodes.values() if isinstance(node, ModelNode))
    return sorted(node.unique_id for node in models if node.config.group == group)


def _exposure(graph: Graph, node: ExposureNode) -> dict[str, Any]:
    exposure = node.config
    parents = [graph.nodes[parent] for parent in _parents(node)]
    return {
        **_identity(graph, node),
        "type": exposure.type,
        "owner": asdict(exposure.owner),
        "description": node.description,
        "label": exposure.label,
        "maturity": exposure.maturity,
        "meta": node.meta,
        "tags": node.tags,
        "config": config_as_json(node),
        "unrendered_config": {},
        "url": exposure.url,
        "depends_on": {"nodes": _parents(node), "macros": node.macros},
        "refs": _refs(parents),
        "sources": _sources(parents),
        "metrics": [],
    }


def _refs(parents: Iterable[Node]) -> list[dict[str, Any]]:
    return [
        {"name": parent.name, "package": None, "version": None} for parent in parents if isinstance(parent, RefNode)
    ]


def _sources(parents: Iterable[Node]) -> list[list[str]]:
    return [[parent.source_name, parent.name] for parent in parents if isinstance(parent, SourceNode)]


def _unit_test(graph: Graph, node: UnitTestNode) -> dict[str, Any]:
    case = node.unit_test
    return {
        **_identity(graph, node),
        "model": case.model,
        "given": [_fixture(test_input) for test_input in case.given],
        "expect": _fixture(case.expect),
        "description": node.description,
        "depends_on": {"nodes": node.depends_on, "macros": node.macros},
        "config": config_as_json(node),
        "checksum": node.checksum,
        "schema": (node.relation.schema if node.relation else None) or "",
    }


def _fixture(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return only what dbt's schema has keys for; the changes that a MERGE is expected to make are not in it."""
    return {key: rows[key] for key in ("input", "rows", "format", "fixture") if key in rows}


def _macro(macro: Macro) -> dict[str, Any]:
    return {
        "unique_id": macro.unique_id,
        "name": macro.name,
        "resource_type": "macro",
        "package_name": macro.unique_id.split(".")[1],
        "path": macro.path,
        "original_file_path": macro.path,
        "macro_sql": macro.sql,
        "depends_on": {"macros": list(macro.macros)},
        "description": macro.description,
        "meta": {},
        "docs": {"show": True, "node_color": None},
        "patch_path": None,
        "arguments": [],
    }
