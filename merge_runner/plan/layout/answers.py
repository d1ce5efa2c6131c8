"""What can be read of a project while a model is looked at, as questions with the answers that hold now."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from merge_runner.graph.graph import ModelNode, Node, RefNode, SeedNode, SourceNode, nodes_of
from merge_runner.plan.layout.table_names import TableNames
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.syntax.environment import template_env
from merge_runner.reads import Question
from merge_runner.store import key

EPHEMERAL: Question = ("ephemeral", "")
"""Which models are ephemeral."""


def node_read(node: Node) -> Question:
    """Return the question of all that the project says of one node, and its recorded layout."""
    return "node", node.unique_id


def named_table(parts: tuple[str, ...]) -> Question:
    """Return the question of what a name in SQL means."""
    return "table", json.dumps(parts)


def writers_of(node: ModelNode) -> Question:
    """Return the question of which models the table of a model may come from."""
    return "writers", node.unique_id


class Answers:
    """Answers each question once. To look at an environment variable here is not to ask for it."""

    def __init__(self, prepared: Prepared, table_names: TableNames) -> None:
        self._prepared = prepared
        self._table_names = table_names
        self._answers: dict[Question, str | None] = {}
        self.env = template_env(prepared.invocation.env)
        self._macro_files = {source.path: source for source in prepared.templates.sources}
        self._kinds: Mapping[str, Callable[[str], str | None]] = {
            "var": self._var,
            "env": self.env.get,
            "macros": self._macros,
            "node": self._node,
            "ref": self._ref,
            "table": self._table,
            "writers": self._writers,
            "ephemeral": self._ephemeral,
        }

    def __call__(self, kind: str, name: str) -> str | None:
        """Return the answer, or a hash of it; None: there is no such thing."""
        question = kind, name
        if question not in self._answers:
            self._answers[question] = self._kinds[kind](name)
        return self._answers[question]

    def _var(self, name: str) -> str | None:
        values = self._prepared.files.vars
        return repr(values[name]) if name in values else None

    def _macros(self, path: str) -> str | None:
        source = self._macro_files.get(path)
        return None if source is None else key(source.text).hex()

    def _node(self, unique_id: str) -> str | None:
        node = self._prepared.graph.nodes.get(unique_id)
        if node is None:
            return None
        files = self._prepared.files
        on: tuple[str, ...] = (node.name,)
        properties: Any = None
        if isinstance(node, RefNode):
            node = replace(node, columns={})  # its properties say the same
        if isinstance(node, ModelNode):
            model = files.models[node.name]
            properties = (model.layers, model.properties)
        elif isinstance(node, SeedNode):
            seed = files.seeds[node.name]
            properties = (seed.layers, seed.properties)
        elif isinstance(node, SourceNode):
            on = (node.source_name, node.name)
        tests = [(entry.column, entry.test) for entry in files.data_tests.get(on, ())]
        return key(node, properties, tests, self._table_names.recorded(node)).hex()

    def _ref(self, name: str) -> str | None:
        graph = self._prepared.graph
        for kind in ("model", "seed"):
            node = graph.nodes.get(f"{kind}.{graph.project}.{name}")
            if node is not None:
                return repr((node.unique_id, node.relation, node.materialized))
        return "unread" if name in graph.unread else None

    def _table(self, parts: str) -> str | None:
        meaning = self._table_names.meaning(tuple(json.loads(parts)))
        return None if meaning is None else repr(meaning)

    def _writers(self, unique_id: str) -> str | None:
        node = self._prepared.graph.nodes.get(unique_id)
        if not isinstance(node, ModelNode):
            return None
        return repr([writer.unique_id for writer in self._table_names.writers(node)])

    def _ephemeral(self, _name: str) -> str:
        models = nodes_of(self._prepared.graph.nodes, ModelNode)
        return repr([node.unique_id for node in models if node.materialized == "ephemeral"])
