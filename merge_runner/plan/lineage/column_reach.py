"""What a change of columns can reach: the models below modified ones that read a column which has changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import DataTestNode, ModelNode, Node, RefNode, SourceNode, UnitTestNode
from merge_runner.graph.order import topological
from merge_runner.graph.selection.methods.lookup import ColumnReach
from merge_runner.graph.selection.state import Change, changed_contract
from merge_runner.lineage.changed_columns import Columns, Names, Version, changed_columns, generated_from
from merge_runner.merge.expression import name_parts
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.lineage.model_lineage import has_lineage
from merge_runner.plan.lineage.project_lineage import ProjectLineage
from merge_runner.plan.load.project_context import Prepared

_OF_TEXT: frozenset[Change] = frozenset({"body", "macros", "contract"})
"""Changes that the compiled text and the declared columns show in full. Any other one concerns all columns."""


def column_reach(prepared: Prepared) -> ColumnReach:
    """Return what finds the nodes that a changed column of some modified nodes can reach, these included.

    Columns of a model are compared where the earlier manifest has its compiled text. Where it has none, or a text
    cannot be followed, all of them count as changed.
    """

    def reached(
        previous: Mapping[str, Any], changes: Mapping[str, frozenset[Change]], modified: Collection[str]
    ) -> frozenset[str]:
        lineage = ProjectLineage(prepared, Layouts.load(prepared))
        return _Reach(prepared, lineage, previous, changes).ids(modified)

    return reached


def columns_reached(
    prepared: Prepared,
    lineage: ProjectLineage,
    previous: Mapping[str, Any],
    changes: Mapping[str, frozenset[Change]],
) -> Callable[[str], dict[str, Columns]]:
    """Return what returns the columns that a modified node changes, by node id: its own, and those that these reach.

    `previous` has compiled texts, as `column_reach` needs them; `changes` are those of `state.changes`.
    """
    reach = _Reach(prepared, lineage, previous, changes)
    tables = {
        node.unique_id: _relation(node)
        for node in prepared.graph.nodes.values()
        if isinstance(node, RefNode | SourceNode) and node.materialized != "ephemeral"
    }

    def reached(unique_id: str) -> dict[str, Columns]:
        changed = reach.follow([unique_id])
        return {key: changed[relation] for key, relation in tables.items() if relation in changed}

    return reached


class _Reach:
    """Follows changed columns. `changed` are those of one question by the relation's name, case folded."""

    def __init__(
        self,
        prepared: Prepared,
        lineage: ProjectLineage,
        previous: Mapping[str, Any],
        changes: Mapping[str, frozenset[Change]],
    ) -> None:
        self.graph = prepared.graph
        self.prepared = prepared
        self.lineage = lineage
        self.previous = previous
        self.changes = changes
        self.changed: dict[str, Columns] = {}
        self._before = _identities(
            (unique_id, str(entry.get("relation_name") or ""))
            for section in ("nodes", "sources")
            for unique_id, entry in previous[section].items()
        )
        self._now = _identities(
            (node.unique_id, str(node.relation) if node.relation is not None else "")
            for node in self.graph.nodes.values()
        )

    def ids(self, modified: Collection[str]) -> frozenset[str]:
        """Return the modified nodes, and those that their changed columns reach."""
        self.follow(modified)
        return self._with_others(modified)

    def follow(self, modified: Collection[str]) -> Mapping[str, Columns]:
        """Return the columns of relations that modified nodes change, and those that these reach."""
        self.changed, todo = {}, list[str]()
        for unique_id in modified:
            node = self.graph.nodes[unique_id]
            if node.materialized == "ephemeral":
                for reader in self.lineage.readers_through(unique_id):
                    self._begin(reader, self._of_text(self.graph.model(reader)), todo)
            elif not isinstance(node, DataTestNode | UnitTestNode):
                self._begin(unique_id, self._of(node), todo)
        for relation in todo:  # it grows
            for reader in self.lineage.readers(relation):
                self._begin(reader, self._reached(reader, relation), todo)
        return self.changed

    def _begin(self, unique_id: str, columns: Columns, todo: list[str]) -> None:
        """Note columns of a node that have changed; where there are new ones, what reads them has to be looked at."""
        node = self.graph.nodes[unique_id]
        relation = _relation(node)
        if columns is not None:
            columns |= generated_from(self.lineage.table(unique_id), columns)
        earlier = self.changed.get(relation, frozenset())
        if earlier is None or (columns is not None and columns <= earlier):
            return
        self.changed[relation] = None if columns is None else columns | earlier
        todo.append(relation)

    def _of(self, node: Node) -> Columns:
        """The columns of a modified node that have changed."""
        if not self.changes[node.unique_id] <= _OF_TEXT:
            return None
        contract = changed_contract(self.graph, self.previous, node)
        if not isinstance(node, ModelNode):
            return contract if self.changes[node.unique_id] <= {"contract"} else None
        text = self._of_text(node)
        return None if text is None else text | contract

    def _of_text(self, node: ModelNode) -> Columns:
        """The columns of a model that its earlier compiled text makes otherwise than its text now."""
        earlier = self.previous["nodes"].get(node.unique_id, {})
        text, config = earlier.get("compiled_code"), earlier.get("config") or {}
        had_hooks = config.get("pre_hook") or config.get("post_hook")
        if not text or had_hooks or node.config.pre_hook or node.config.post_hook:
            return None
        try:
            now = self.prepared.compiler.render(node.unique_id).text
        except ProblemsError:
            return None
        before, after = Version(str(text), _names_of(self._before)), Version(now, _names_of(self._now))
        return changed_columns(before, after, merge=node.materialized == "merge")

    def _reached(self, unique_id: str, relation: str) -> Columns:
        """The columns of a model that columns of a relation reach which have changed."""
        changed = self.changed[relation]
        lineage = self.lineage.model(unique_id)
        if changed is None or lineage.unresolved:
            return None
        for part in lineage.table.rows:
            if part.relation.casefold() == relation and part.column.casefold() in changed:
                return None
        return frozenset(
            column.column.casefold()
            for column in lineage.table.columns
            if any(part.relation.casefold() == relation and part.column.casefold() in changed for part in column.inputs)
        )

    def _with_others(self, modified: Collection[str]) -> frozenset[str]:
        """The modified nodes, the models that are reached, ephemeral ones on the way to these, and tests of them."""
        reached = set(modified)
        for unique_id in reversed(topological(self.graph, self.graph.nodes)):
            node = self.graph.nodes[unique_id]
            if has_lineage(node):
                if self.changed.get(_relation(node), frozenset()) != frozenset():
                    reached.add(unique_id)
            elif isinstance(node, ModelNode) and reached & set(self.graph.dag.succ[unique_id]):
                reached.add(unique_id)
        tests = {key for key, node in self.graph.nodes.items() if isinstance(node, DataTestNode | UnitTestNode)}
        return frozenset(reached | {key for key in tests if reached & set(self.graph.dag.pred[key])})


def _relation(node: Node) -> str:
    """The name of a node's table or view, case folded: what edges of lineage name it by."""
    return (node.relation.name if node.relation is not None else node.name).casefold()


def _identities(relations: Iterable[tuple[str, str]]) -> dict[tuple[str, ...], str]:
    """Ids of nodes by the parts of the names of their tables."""
    return {_parts(name_parts(name)): unique_id for unique_id, name in relations if name}


def _parts(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a name, case folded, without Spark's own catalog."""
    folded = tuple(part.casefold() for part in parts)
    return folded[1:] if folded[:1] == ("spark_catalog",) else folded


def _names_of(identities: Mapping[tuple[str, ...], str]) -> Names:
    def names(parts: tuple[str, ...]) -> str:
        own = _parts(parts)
        return identities.get(own, ".".join(own))

    return names
