"""What must be known to the catalog before SQL may name the parents of a node."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.registry import capabilities, table_format_of
from merge_runner.graph.graph import RefNode, SourceNode
from merge_runner.graph.naming import table_location, view_definition
from merge_runner.plan.layout.table_layout import own_relation
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import AttachInputs, FileInput, Input, StreamBatchInput, TableInput, ViewInput
from merge_runner.relation import Relation

_MOST_VIEWS = 200


class Inputs:
    """Finds the inputs of nodes: tables, views, files and batches of streams, as they are or as they are deferred."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._root = prepared.files.root
        self._profile = prepared.files.profile

    def attach(self, parents: Iterable[str]) -> AttachInputs:
        """What SQL that reads these nodes needs in the catalog. Raises ProblemsError for what cannot be read."""
        inputs: dict[Relation, Input] = {}
        for parent in parents:
            for item in self._input(parent):
                inputs[item.relation] = item
        return AttachInputs(tuple(inputs.values()))

    def _input(self, unique_id: str) -> Iterable[Input]:
        """What must be known to the catalog before SQL may name a node, parents of views and queries first."""
        if unique_id in self._prepared.deferral.ids:
            yield from self._deferred_input(unique_id)
            return
        node = self._prepared.graph.nodes[unique_id]
        if isinstance(node, SourceNode):
            yield self._source(node)
            return
        if not isinstance(node, RefNode):
            raise TypeError(f"{unique_id} cannot be read")
        kind = node.materialized
        if kind in ("view", "ephemeral"):
            for parent in node.depends_on:
                yield from self._input(parent)
        relation = own_relation(node)
        if kind == "view":
            yield ViewInput(relation, view_definition(self._root, self._profile, relation))
        elif kind != "ephemeral":
            format = node.config.format
            yield TableInput(relation, format, table_location(self._root, self._profile, relation, format))

    def _deferred_input(self, unique_id: str, below: frozenset[str] = frozenset()) -> Iterable[Input]:
        """The same of a node as the state that is deferred to has built it; `below` are the views that need it."""
        if unique_id in below or len(below) > _MOST_VIEWS:
            message = f"its manifest.json has views in a circle, or too many inside each other, with {unique_id}"
            raise ProblemsError([Problem("bad-state", message, hint="--state names the folder of an earlier command")])
        node = self._prepared.deferral.nodes.get(unique_id)
        if node is None:
            source = self._prepared.graph.nodes.get(unique_id)
            if isinstance(source, SourceNode):
                yield from self._input(unique_id)
            return
        if node.materialized in ("view", "ephemeral"):
            for parent in node.parents:
                yield from self._deferred_input(parent, below | {unique_id})
        if node.materialized == "view":
            yield ViewInput(node.relation, view_definition(self._root, self._profile, node.relation))
        elif node.materialized != "ephemeral":
            location = table_location(self._root, self._profile, node.relation, node.format)
            yield TableInput(node.relation, node.format, location)

    def _source(self, node: SourceNode) -> Input:
        config = node.config
        if config.stream is not None:
            return StreamBatchInput(own_relation(node), node.full_name)
        if config.path is None:
            return TableInput(own_relation(node), config.format or "", None)
        format = table_format_of(config.format)
        if format is not None and capabilities(format).needs_catalog:
            table = capabilities(format).a_table
            problem = Problem(
                "iceberg-path",
                f"source {node.full_name} names {table} by `path`",
                node.place,
                f"{table} belongs to a catalog: name it by catalog, schema and identifier",
            )
            raise ProblemsError([problem])
        remote = "://" in config.path
        path = config.path if remote else str((self._root / config.path).absolute())
        if format is not None and not remote:
            return TableInput(own_relation(node), format, Path(path), node.place)
        return FileInput(
            own_relation(node),
            path,
            config.format or "parquet",
            dict(config.options),
            tuple((column.name, column.data_type) for column in config.columns),
            node.place,
            config.checksum,
        )
