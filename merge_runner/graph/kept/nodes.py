"""The nodes of a graph that was kept: each is read when it is asked for, and heads say what is looked up among all.

A project has thousands of nodes, of which most commands look at a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple, TypeVar

from merge_runner.graph.graph import ModelNode, Node, RefNode, SourceNode
from merge_runner.kept_values import Packed
from merge_runner.project.schema.config import Materialized
from merge_runner.relation import Relation
from merge_runner.template.raw_vars import may_read_values

_Kind = TypeVar("_Kind", bound=Node)


class Head(NamedTuple):
    """What is looked up of a model, seed or source among all that there are, as the node has it."""

    unique_id: str
    name: str
    path: str
    patch_path: str | None
    relation: Relation | None
    materialized: Materialized | None
    changes_of: str | None
    """Of a model, as the next."""
    concurrent: bool
    has_settings: bool
    """Whether its config has a conf or properties of the table."""
    may_read_values: bool
    """Whether its text may read a var, an environment variable or a value of the target."""


def nodes_of(nodes: Mapping[str, Node], kind: type[_Kind]) -> Iterator[_Kind]:
    """The nodes of a kind, in their order; no others are read."""
    found = nodes.of(kind) if isinstance(nodes, KeptNodes) else nodes.values()
    return (node for node in found if isinstance(node, kind))


def heads_of(nodes: Mapping[str, Node], kind: type[RefNode | SourceNode]) -> Iterator[Head]:
    """The heads of the nodes of a kind, in their order; no node is read for it."""
    return nodes.heads(kind) if isinstance(nodes, KeptNodes) else map(head_of, nodes_of(nodes, kind))


def with_changed(nodes: Mapping[str, Node], changed: Mapping[str, Node]) -> Mapping[str, Node]:
    """Return the nodes with others for some of the ids; none is read for it."""
    return nodes.with_changed(changed) if isinstance(nodes, KeptNodes) else {**nodes, **changed}


def head_of(node: Node) -> Head:
    """Return the head of a node."""
    said = (node.unique_id, node.name, node.path, node.patch_path, node.relation, node.materialized)
    if not isinstance(node, ModelNode):
        return Head(*said, None, False, False, False)
    config = node.config
    has_settings = bool(config.conf or config.properties)
    return Head(*said, node.changes_of, config.concurrent, has_settings, may_read_values(node.raw_code))


def heads_by_type(nodes: Mapping[str, Node]) -> dict[str, list[tuple[object, ...]]]:
    """Return all heads, as plain tuples by the type of the resource."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for node in nodes.values():
        if isinstance(node, RefNode | SourceNode):
            found.setdefault(node.resource_type, []).append(tuple(head_of(node)))
    return found


class KeptNodes(Mapping[str, Node]):
    """Nodes by id, which begins with the type of the resource; `heads` are those of models, seeds and sources."""

    def __init__(
        self,
        kept: Mapping[str, Node],
        heads: Mapping[str, list[tuple[object, ...]]],
    ) -> None:
        self._kept = kept
        self._heads = heads
        self._changed: Mapping[str, Node] = {}
        self._made: dict[str, list[Head]] = {}
        """The heads by type, of the types that were asked for."""

    def __getitem__(self, unique_id: str) -> Node:
        return self._changed[unique_id] if unique_id in self._changed else self._kept[unique_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, unique_id: object) -> bool:
        return unique_id in self._kept

    def forget(self) -> None:
        """Leave the nodes that were read to be read again."""
        if isinstance(self._kept, Packed):
            self._kept.forget()

    def of(self, kind: type[Node]) -> Iterator[Node]:
        """Yield the nodes of the types of the class, and of those derived from it."""
        types = frozenset(_types(kind))
        if types <= _WITH_HEADS:
            return (self[head.unique_id] for head in self._heads_of(types))
        return (self[unique_id] for unique_id in self if unique_id.partition(".")[0] in types)

    def heads(self, kind: type[Node]) -> Iterator[Head]:
        """Return the heads of the types of the class, and of those derived from it."""
        return self._heads_of(frozenset(_types(kind)))

    def with_changed(self, nodes: Mapping[str, Node]) -> KeptNodes:
        """Return the same nodes with others for some of the ids."""
        found = KeptNodes(self._kept, self._heads)
        found._changed = {**self._changed, **nodes}
        found._made = {kind: _with_heads_of(nodes, heads) for kind, heads in self._made.items()}
        return found

    def _heads_of(self, types: frozenset[str]) -> Iterator[Head]:
        return chain.from_iterable(self._of_type(kind) for kind in self._heads if kind in types)

    def _of_type(self, resource_type: str) -> list[Head]:
        if resource_type not in self._made:
            heads = map(Head._make, self._heads[resource_type])
            self._made[resource_type] = _with_heads_of(self._changed, heads)
        return self._made[resource_type]


def _with_heads_of(changed: Mapping[str, Node], heads: Iterable[Head]) -> list[Head]:
    """Return the heads, those of changed nodes in place of the others."""
    return [head_of(changed[head.unique_id]) if head.unique_id in changed else head for head in heads]


_WITH_HEADS = frozenset({"model", "seed", "source"})


def _types(kind: type[Node]) -> Iterator[str]:
    """Yield the types of a class and of those that are derived from it."""
    if hasattr(kind, "resource_type"):
        yield kind.resource_type
    for each in kind.__subclasses__():
        yield from _types(each)
