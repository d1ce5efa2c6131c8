"""Column lineage across a project: upstream and downstream of a model or column, over the models between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from merge_runner.errors import Problem, ProblemsError, did_you_mean, nearest
from merge_runner.graph.graph import AnalysisNode, DataTestNode, ModelNode, Node, UnitTestNode
from merge_runner.graph.order import topological
from merge_runner.lineage.edge import Table
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.lineage.answer import ColumnKey, Direction, Lineage
from merge_runner.plan.lineage.model_lineage import (
    LineageColumn,
    ModelLineage,
    ModelLineages,
    has_lineage,
)
from merge_runner.plan.load.project_context import Prepared


class ProjectLineage:
    """The column lineage of a project. Only the models that a question reaches are looked at, each once."""

    def __init__(self, prepared: Prepared, layouts: Layouts) -> None:
        self._graph = prepared.graph
        self._models = ModelLineages(prepared, layouts)
        self._by_relation: dict[str, list[Node]] = {}
        for node in self._graph.nodes.values():
            if node.relation is not None and node.materialized != "ephemeral":
                self._by_relation.setdefault(node.relation.name.casefold(), []).append(node)
        self._seen: dict[str, ModelLineage] = {}

    def model(self, unique_id: str) -> ModelLineage:
        """The lineage of one merge, table or view model."""
        self._seen[unique_id] = lineage = self._models.of(unique_id)
        return lineage

    def ask(self, name: str | None = None, direction: Direction = "both", *, direct: bool = False) -> Lineage:
        """The lineage of a model, seed or source, or of one column of it (`model.column`); None: of all models.

        With `direct` only what values are made of counts, and not what decides about them. Raises ProblemsError for a
        name that is none.
        """
        self._seen = {}
        if name is None:
            ids = topological(self._graph, [key for key, node in self._graph.nodes.items() if has_lineage(node)])
            start = [column for unique_id in ids for column in self._columns(unique_id, direct)]
            return self._answer(Lineage(None, tuple(start)))
        node, column = self._find_node(name)
        columns = self._columns(node.unique_id, direct) if has_lineage(node) else ()
        begin = self._begin(node, column, [entry.column for entry in columns], direct)
        start = [entry for entry in columns if _key(entry) in begin]
        lineage = Lineage(name, tuple(start), direction=direction, begin=tuple(begin))
        if direction != "down":
            lineage = replace(lineage, upstream=tuple(self._upstream(start, direct)))
        if direction != "up":
            lineage = replace(lineage, downstream=tuple(self._downstream(begin, direct)))
        return self._answer(lineage)

    def _answer(self, answer: Lineage) -> Lineage:
        unresolved = [gap for lineage in self._seen.values() for gap in lineage.unresolved]
        names = {relation: nodes[0].full_name for relation, nodes in self._by_relation.items()}
        return replace(answer, unresolved=tuple(unresolved), names=names)

    def _columns(self, unique_id: str, direct: bool) -> tuple[LineageColumn, ...]:
        columns = self.model(unique_id).columns
        if not direct:
            return columns
        return tuple(
            replace(column, value_inputs=tuple(part for part in column.value_inputs if part.is_direct), rows=())
            for column in columns
        )

    def _find_node(self, name: str) -> tuple[Node, str | None]:
        """The node and column of `model`, `model.column`, `source.table` or `source.table.column`."""
        nodes = {
            node.full_name: node
            for node in self._graph.nodes.values()
            if not isinstance(node, DataTestNode | UnitTestNode | AnalysisNode)
        }
        if name in nodes:
            return _not_ephemeral(nodes[name]), None
        before, dot, column = name.rpartition(".")
        if dot and before in nodes:
            return _not_ephemeral(nodes[before]), column
        node_name = before if dot and nearest(before, nodes) is not None else name
        hint = did_you_mean(node_name, nodes)
        raise ProblemsError([Problem("unknown-model", f'there is no model, seed or source "{node_name}"', hint=hint)])

    def _begin(self, node: Node, column: str | None, columns: Sequence[str], direct: bool) -> list[ColumnKey]:
        """The keys of the columns that are asked for. Raises ProblemsError for one that the node does not have."""
        relation = node.relation.name if node.relation is not None else node.name
        table = self._models.table(node.unique_id)
        names = list(dict.fromkeys([*columns, *table.columns]))
        if not has_lineage(node) and not table.complete:
            readers = self.readers(relation.casefold())
            parts = (part for reader in readers for entry in self._columns(reader, direct) for part in entry.inputs)
            names += sorted({part.column for part in parts if part.relation.casefold() == relation.casefold()})
        keys = {name.casefold(): (relation.casefold(), name.casefold()) for name in names}
        if column is None:
            return list(keys.values())
        if column.casefold() in keys:
            return [keys[column.casefold()]]
        if has_lineage(node) and any(gap.is_error for gap in self.model(node.unique_id).unresolved):
            return []  # what is wrong with the model is reported
        message = f'"{node.full_name}" has no column "{column}"' if table.complete else (
            f'no column "{column}" of "{node.full_name}" is known'
        )  # fmt: skip
        raise ProblemsError([Problem("unknown-lineage-column", message, hint=did_you_mean(column, names))])

    def _upstream(self, start: Iterable[LineageColumn], direct: bool) -> list[LineageColumn]:
        """The columns of models that others come from, nearest first."""
        seen = {_key(entry) for entry in start}
        upstream: list[LineageColumn] = []
        todo = list(start)
        for column in todo:  # it grows
            for part in column.inputs:
                key = (part.relation.casefold(), part.column.casefold())
                if key in seen:
                    continue
                seen.add(key)
                writers = [node for node in self._by_relation.get(key[0], ()) if has_lineage(node)]
                more = [entry for node in writers for entry in self._columns(node.unique_id, direct)]
                more = [entry for entry in more if _key(entry) == key]
                upstream += more
                todo += more
        return upstream

    def _downstream(self, begin: Sequence[ColumnKey], direct: bool) -> list[LineageColumn]:
        """The columns of models that depend on others, nearest first."""
        seen = set(begin)
        downstream: list[LineageColumn] = []
        todo = list(begin)
        visited: set[tuple[str, ColumnKey]] = set()
        by_relation: dict[str, list[tuple[LineageColumn, set[ColumnKey]]]] = {}
        for key in todo:  # it grows
            if key[0] not in by_relation:
                by_relation[key[0]] = [
                    (entry, {(part.relation.casefold(), part.column.casefold()) for part in entry.inputs})
                    for unique_id in self.readers(key[0])
                    for entry in self._columns(unique_id, direct)
                ]
            for entry, inputs in by_relation[key[0]]:
                place = (entry.unique_id, _key(entry))
                if key not in inputs or place in visited:
                    continue
                visited.add(place)
                if _key(entry) not in begin:
                    downstream.append(entry)
                if _key(entry) not in seen:
                    seen.add(_key(entry))
                    todo.append(_key(entry))
        return downstream

    def table(self, unique_id: str) -> Table:
        """A model, seed or source as the SQL of others sees it."""
        return self._models.table(unique_id)

    def readers(self, relation: str) -> list[str]:
        """The models that may read a relation: its children, through ephemeral models, and those that name it."""
        readers: dict[str, None] = {}
        for node in self._by_relation.get(relation, ()):
            if has_lineage(node):
                readers[node.unique_id] = None  # a MERGE may read its own target
            readers.update(dict.fromkeys(self.readers_through(node.unique_id)))
            words = _words(node.relation.identifier) if node.relation is not None else frozenset()
            readers.update(
                {key: None for key, words_of_model in self._words.items() if words and words <= words_of_model}
            )
        return list(readers)

    def readers_through(self, unique_id: str) -> list[str]:
        """The models below a node that have lineage, over ephemeral ones between."""
        readers: dict[str, None] = {}
        todo = [unique_id]
        for node in todo:  # it grows
            for child in self._graph.dag.succ[node]:
                if has_lineage(self._graph.nodes[child]):
                    readers[child] = None
                elif isinstance(self._graph.nodes[child], ModelNode) and child not in todo:
                    todo.append(child)
        return list(readers)

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        """The words of each model's text: a table may be named without `ref`."""
        return {key: _words(node.raw_code) for key, node in self._graph.nodes.items() if has_lineage(node)}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _key(column: LineageColumn) -> ColumnKey:
    return column.relation.casefold(), column.column.casefold()


def _not_ephemeral(node: Node) -> Node:
    if node.materialized == "ephemeral":
        message = f'"{node.name}" is ephemeral: it has no table, and lineage goes through it'
        raise ProblemsError([Problem("ephemeral-lineage", message, node.place, "name a model that reads it")])
    return node
