"""Graphs for tests, written as short lists of nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import networkx as nx
import pytest

from merge_runner.graph.graph import GenericTest, Graph, Macro, Node, UnitTestCase
from merge_runner.relation import Relation
from merge_runner.text import Place

PROJECT = "shop"


def _node(spec: Mapping[str, Any], ids: Mapping[str, str]) -> Node:
    kind = spec.get("type", "model")
    name = spec["name"].rpartition(".")[2] if kind == "source" else spec["name"]
    source = spec["name"].rpartition(".")[0] if kind == "source" else None
    folders = tuple(spec.get("in", "").split("/")) if spec.get("in") else ()
    parents = tuple(ids[parent] for parent in spec.get("parents", ()))
    endings = {"model": ".sql", "seed": ".csv"}
    path = spec.get("path") or "/".join(("models", *folders, f"{name}{endings.get(kind, '.sql')}"))
    generic = GenericTest(spec["calls"], {}, parents[0]) if "calls" in spec else None
    return Node(
        unique_id=ids[spec["name"]],
        name=name,
        resource_type=kind,
        path=path,
        fqn=(PROJECT, *folders, *((source,) if source else ()), name),
        place=Place(path, 1, 1),
        relation=None
        if kind in ("test", "unit_test")
        else Relation(spec.get("alias", name), spec.get("schema", "dev")),
        config=spec.get("config", {}),
        tags=tuple(spec.get("tags", ())),
        depends_on=parents,
        checksum=spec.get("checksum", name),
        test_type={"test": "generic" if generic else "singular", "unit_test": "unit"}.get(kind),
        columns=spec.get("columns", {}),
        description=spec.get("description", ""),
        meta=spec.get("meta", {}),
        raw_code=spec.get("code", ""),
        macros=tuple(f"macro.{PROJECT}.{macro}" for macro in spec.get("macros", ())),
        patch_path=spec.get("yml"),
        files=tuple(spec.get("files", ())),
        source_name=source,
        generic_test=generic,
        unit_test=UnitTestCase(spec["tests"]) if "tests" in spec else None,
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
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(made)
    dag.add_edges_from((parent, node.unique_id) for node in made.values() for parent in node.depends_on)
    return Graph(
        PROJECT,
        made,
        dag,
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


@pytest.fixture(name="graph_over", scope="session")
def graph_over_fixture() -> Callable[..., Graph]:
    return graph_over
