"""How result lines and messages name a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from merge_runner.graph.graph import DataTestNode, Node, UnitTestNode


class NodeNames(TypedDict):
    """How events name a node."""

    node: str
    name: str
    label: str


def label(nodes: Mapping[str, Node], unique_id: str) -> str:
    """Return the node's name; that of a test after the name of what it tests: `fct_flight: a_late_correction_wins`.

    The generated name of a data test has the name of its model already; a singular test that reads several nodes is
    known by its own name.
    """
    node = nodes[unique_id]
    owner = _tested(nodes, node)
    if owner is None or owner.replace(".", "_") in node.name:
        return node.name
    return f"{owner}: {node.name}"


def node_names(nodes: Mapping[str, Node], unique_id: str) -> NodeNames:
    """Return how events name a node: its id as `node`, its own `name`, and its `label`."""
    return {"node": unique_id, "name": nodes[unique_id].name, "label": label(nodes, unique_id)}


def _tested(nodes: Mapping[str, Node], node: Node) -> str | None:
    """Return the name of the one node that a test is about; None where it is about several, or is no test."""
    if not isinstance(node, DataTestNode | UnitTestNode):
        return None
    attached = node.generic_test.attached_node if isinstance(node, DataTestNode) and node.generic_test else None
    owner = attached or (node.depends_on[0] if len(node.depends_on) == 1 else None)
    return nodes[owner].full_name if owner is not None and owner in nodes else None
