"""What a name in rendered SQL means: a node, the view of a table's changes, a recorded table; who writes a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from merge_runner.graph.graph import ModelNode, Node, RefNode, SourceNode, nodes_of
from merge_runner.graph.model_text import OlderRows, older_rows
from merge_runner.graph.order import relatives
from merge_runner.plan.layout.layout_file import RecordedLayouts, TableKey
from merge_runner.plan.load.project_context import Prepared
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.relation import Relation, changes_of


@dataclass(frozen=True)
class ChangesOf:
    """The view of the changes of a node's table."""

    unique_id: str


class TableNames:
    """The tables of a project and of its recorded catalog, by name."""

    def __init__(self, prepared: Prepared, recorded: RecordedLayouts) -> None:
        self._graph = prepared.graph
        self._recorded = recorded
        self._by_name: dict[TableKey, str] = {}
        self._feeds: dict[str, str] = {}
        """The tables whose changes are read, by the names of their views."""
        self._sharing: dict[TableKey, list[str]] = {}
        """The models that merge into each table."""
        deferral = prepared.deferral
        for node in (*nodes_of(self._graph.nodes, SourceNode), *nodes_of(self._graph.nodes, RefNode)):
            if isinstance(node, ModelNode) and node.changes_of is not None:
                view = changes_of(self._graph.nodes[node.changes_of].name)
                self._feeds[view.identifier.casefold()] = node.changes_of
            if node.relation is None or node.materialized == "ephemeral":
                continue
            key = self._key(node)
            self._by_name.setdefault(key, node.unique_id)
            if node.unique_id in deferral.ids:
                self._by_name.setdefault(self._relation_key(deferral.nodes[node.unique_id].relation), node.unique_id)
            if node.materialized == "merge":
                self._sharing.setdefault(key, []).append(node.unique_id)
        shared = {key for key, writers in self._sharing.items() if len(writers) > 1}
        models = nodes_of(self._graph.nodes, ModelNode) if shared else ()
        self._with_others = frozenset(node.unique_id for node in models if self._key(node) in shared)
        """The models whose tables several merge into."""

    def meaning(self, parts: tuple[str, ...]) -> str | ChangesOf | TableLayout | None:
        """Return the id of a node, the view of changes, or the layout of a recorded table; None: nothing is known."""
        key = self._recorded.namespace.key(parts)
        unique_id = self._by_name.get(key)
        if unique_id is None and len(parts) == 1 and parts[0].casefold() in self._feeds:
            return ChangesOf(self._feeds[parts[0].casefold()])
        return self._recorded.tables.get(key) if unique_id is None else unique_id

    def recorded(self, node: Node) -> TableLayout | None:
        """Return what is recorded of the table of a node."""
        return self._recorded.tables.get(self._key(node))

    def recorded_older_rows(self, node: Node) -> OlderRows | None:
        """Return how many commits of a model's table an older text had made by then; None: that was not recorded."""
        real = self.recorded(node)
        return older_rows(self._graph, node, real.commits) if real is not None else None

    def is_only_writer(self, unique_id: str) -> bool:
        """Return whether a model shares its table with no other."""
        return unique_id not in self._with_others

    def writers(self, node: ModelNode) -> Sequence[ModelNode]:
        """The models whose layouts the table of a model may have: the one that creates it, where that is known.

        Several MERGEs may write one table. The one that all others depend on runs first; else any of them may.
        """
        if self.is_only_writer(node.unique_id):
            return (node,)
        writers = [self._graph.model(unique_id) for unique_id in self._sharing[self._key(node)]]
        names = {writer.unique_id for writer in writers}
        first = [writer for writer in writers if names - {writer.unique_id} <= self._descendants(writer.unique_id)]
        return first or writers

    def _descendants(self, unique_id: str) -> set[str]:
        return relatives(self._graph.dag.succ, [unique_id], inf) - {unique_id}

    def _key(self, node: Node) -> TableKey:
        return self._relation_key(node.relation) if node.relation is not None else ()

    def _relation_key(self, relation: Relation) -> TableKey:
        parts = (relation.catalog, relation.schema, relation.identifier)
        return self._recorded.namespace.key(part for part in parts if part)
