"""Graphs for tests, written as short lists of nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from pydantic import TypeAdapter

from merge_runner.graph.graph import (
    Dag,
    DataTestNode,
    GenericTest,
    Graph,
    Macro,
    ModelNode,
    Node,
    SeedNode,
    SourceNode,
    UnitTestCase,
    UnitTestNode,
)
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.data_test import DataTestConfig
from merge_runner.project.schema.properties import SourceTable
from merge_runner.project.schema.unit_test import UnitTestConfig
from merge_runner.relation import Relation
from merge_runner.text import Place

PROJECT = "shop"


def node_of(kind: str, config: Mapping[str, Any], **fields: Any) -> Node:
    """A node of a kind with a config as it is written; a model is a table unless that says otherwise."""
    if kind == "source":
        return SourceNode(config=SourceTable(fields["name"], **config), **fields)
    if kind == "model":
        config = {"materialized": "table", **config}
    config = {"tags": fields.get("tags", ()), "meta": fields.get("meta", {}), **config}
    node, of = _KINDS[kind]
    return node(config=of.validate_python(config), **fields)


_MODEL_CONFIG = TypeAdapter(ModelConfig)  # an adapter takes 20 ms to make
_KINDS: Mapping[str, tuple[Any, TypeAdapter[Any]]] = {
    "model": (ModelNode, _MODEL_CONFIG),
    "seed": (SeedNode, _MODEL_CONFIG),
    "test": (DataTestNode, TypeAdapter(DataTestConfig)),
    "unit_test": (UnitTestNode, TypeAdapter(UnitTestConfig)),
}


def _node(spec: Mapping[str, Any], ids: Mapping[str, str]) -> Node:
    kind = spec.get("type", "model")
    source, _, name = spec["name"].rpartition(".") if kind == "source" else ("", "", spec["name"])
    folders = tuple(spec.get("in", "").split("/")) if spec.get("in") else ()
    parents = tuple(ids[parent] for parent in spec.get("parents", ()))
    endings = {"model": ".sql", "seed": ".csv"}
    path = spec.get("path") or "/".join(("models", *folders, f"{name}{endings.get(kind, '.sql')}"))
    own: dict[str, Any] = {}
    if kind == "source":
        own = {"source_name": source, "files": tuple(spec.get("files", ()))}
    elif kind == "test" and "calls" in spec:
        own = {"generic_test": GenericTest(spec["calls"], {}, parents[0])}
    elif kind == "unit_test":
        own = {"unit_test": UnitTestCase(spec.get("tests", ""))}
    if kind in ("model", "seed", "source"):
        own |= {"relation": Relation(spec.get("alias", name), spec.get("schema", "dev"))}
        own |= {"columns": spec.get("columns", {})}
    return node_of(
        kind,
        spec.get("config", {}),
        unique_id=ids[spec["name"]],
        name=name,
        path=path,
        fqn=(PROJECT, *folders, *((source,) if source else ()), name),
        place=Place(path, 1, 1),
        tags=tuple(spec.get("tags", ())),
        depends_on=parents,
        checksum=spec.get("checksum", name),
        description=spec.get("description", ""),
        meta=spec.get("meta", {}),
        raw_code=spec.get("code", ""),
        macros=tuple(f"macro.{PROJECT}.{macro}" for macro in spec.get("macros", ())),
        patch_path=spec.get("yml"),
        **own,
    )


def _macro(spec: Mapping[str, Any]) -> Macro:
    name = spec["name"]
    calls = tuple(f"macro.{PROJECT}.{macro}" for macro in spec.get("macros", ()))
    return Macro(f"macro.{PROJECT}.{name}", name, spec.get("path", f"macros/{name}.sql"), spec.get("sql", name), calls)


def graph_of(
    nodes: Sequence[Mapping[str, Any]],
    macros: Sequence[Mapping[str, Any]] = (),
    disabled: Sequence[Mapping[str, Any]] = (),
) -> Graph:
    """A graph of the project `shop`. The id of a node is `<type>.shop.<name>`, and its type model unless given."""
    ids = {spec["name"]: f"{spec.get('type', 'model')}.{PROJECT}.{spec['name']}" for spec in [*nodes, *disabled]}
    made = {ids[spec["name"]]: _node(spec, ids) for spec in nodes}
    return Graph(
        PROJECT,
        made,
        Dag({unique_id: node.depends_on for unique_id, node in made.items()}),
        {macro.unique_id: macro for macro in map(_macro, macros)},
        tuple(_node(spec, ids) for spec in disabled),
    )


@pytest.fixture(name="graph_of", scope="session")
def graph_of_fixture() -> Callable[..., Graph]:
    return graph_of


def graph_over(edges: Sequence[tuple[int, int]], size: int) -> Graph:
    """A graph of `size` models m0, m1, …; an edge leads from its smaller to its larger number."""
    parents: dict[int, list[str]] = {number: [] for number in range(size)}
    for one, other in edges:
        if one != other:
            parents[max(one, other)].append(f"m{min(one, other)}")
    return graph_of([{"name": f"m{n}", "parents": list(dict.fromkeys(parents[n]))} for n in range(size)])


@pytest.fixture(name="node_of", scope="session")
def node_of_fixture() -> Callable[..., Node]:
    return node_of


@pytest.fixture(name="graph_over", scope="session")
def graph_over_fixture() -> Callable[..., Graph]:
    return graph_over
