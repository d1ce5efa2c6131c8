"""What is known of each node before it runs: its job, the datasets that it reads and writes, and their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from merge_runner.errors import ProblemsError
from merge_runner.graph.git import Checkout, checkout
from merge_runner.graph.graph import DataTestNode, Node, RefNode, SourceNode
from merge_runner.lineage.edge import Input
from merge_runner.openlineage import facets
from merge_runner.openlineage.dataset import Dataset, Datasets
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.lineage.model_lineage import ModelLineage, ModelLineages, has_lineage
from merge_runner.plan.load.project_context import Prepared
from merge_runner.relation import Relation

_SSH = re.compile(r"(?:ssh://)?(?:[^@/]+@)([^:/]+)(?::\d+)?[:/](.+)")


@dataclass(frozen=True)
class NodeFacts:
    """A node's part of its events that does not depend on how it ends. `output` is what it writes, without facets."""

    job: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    output: Mapping[str, Any] | None


class ProjectFacts:
    """The facts of the nodes `ids` of a project.

    Column lineage is found here, before anything runs: what it looks at is not made for several threads. That takes
    some 5 ms for each model (benchmarks/README.md).
    """

    def __init__(self, prepared: Prepared, ids: Iterable[str], *, streams: bool) -> None:
        self._prepared = prepared
        self._nodes = prepared.graph.nodes
        self._datasets = Datasets(prepared.files.root, prepared.files.profile)
        self._streams = streams
        lineages = ModelLineages(prepared, Layouts(prepared))
        self._by_id: dict[str, NodeFacts] = {}
        self._lineage: dict[str, ModelLineage] = {}
        for unique_id in ids:
            if has_lineage(self._nodes[unique_id]):
                try:
                    self._lineage[unique_id] = lineages.of(unique_id)
                except ProblemsError:
                    continue  # the plan of the node reports it

    def of(self, unique_id: str) -> NodeFacts:
        """Return the facts of one node, found once."""
        if unique_id not in self._by_id:
            self._by_id[unique_id] = self._facts(unique_id)
        return self._by_id[unique_id]

    def _facts(self, unique_id: str) -> NodeFacts:
        node = self._nodes[unique_id]
        lineage = self._lineage.get(unique_id)
        written_to = () if isinstance(node, (DataTestNode, SourceNode)) else self._datasets.of_node(node)
        output = next(iter(written_to), None)
        upstream = [dataset for parent in self._parents(node) for dataset in self._by_node.get(parent, ())]
        if lineage is not None:
            upstream += [dataset for relation in _relations(lineage) for dataset in self._datasets_of(relation)]
        if node.materialized == "merge" and output is not None:
            upstream.append(output)  # a MERGE reads its target
        inputs = tuple(
            _dataset(dataset, facets.schema(self._columns.get(dataset, {}))) for dataset in dict.fromkeys(upstream)
        )
        output_content = None
        if output is not None:
            columns = [column.column for column in lineage.columns] if lineage is not None else []
            content = {**facets.schema(_column_declarations(node), columns), **self._column_lineage(lineage)}
            output_content = _dataset(output, content)
        return NodeFacts(self._job(node), inputs, output_content)

    def tested(self, node: DataTestNode) -> Dataset | None:
        """Return the dataset that a data test is attached to; of a test in SQL, the first that it reads."""
        attached = node.generic_test.attached_node if node.generic_test is not None else None
        ids = [attached] if attached is not None else list(node.depends_on)
        datasets = (dataset for parent in ids for dataset in self._by_node.get(parent, ()))
        return next(datasets, None)

    def _job(self, node: Node) -> dict[str, Any]:
        kind = (node.materialized or node.resource_type).upper()
        processing = "STREAMING" if self._streams else "BATCH"
        content = facets.facet("jobType", processingType=processing, integration="MERGE_RUNNER", jobType=kind)
        content |= facets.facet("documentation", description=node.description or None)
        return content | self._source_code(node)

    def _source_code(self, node: Node) -> dict[str, Any]:
        git = self._git
        page = web_address(git.url) if git is not None else None
        if git is None or page is None:
            return {}
        path = f"{git.prefix}{node.path}"
        url = f"{page}/blob/{git.commit}/{path}"
        return facets.facet(
            "sourceCodeLocation",
            type="git", url=url, repoUrl=git.url, path=path, version=git.commit, branch=git.branch,
        )  # fmt: skip

    @cached_property
    def _git(self) -> Checkout | None:
        return checkout(self._prepared.files.root)

    def _parents(self, node: Node) -> Iterator[str]:
        """Yield what a node reads, through ephemeral models."""
        seen: set[str] = set()
        todo = list(node.depends_on)
        for unique_id in todo:  # it grows
            if unique_id in seen or unique_id not in self._nodes:
                continue
            seen.add(unique_id)
            parent = self._nodes[unique_id]
            if parent.materialized == "ephemeral":
                todo += parent.depends_on
            else:
                yield unique_id

    @cached_property
    def _by_node(self) -> dict[str, tuple[Dataset, ...]]:
        return {key: self._datasets.of_node(node) for key, node in self._nodes.items()}

    @cached_property
    def _by_relation(self) -> dict[str, tuple[Dataset, ...]]:
        relations = ((self._nodes[key].relation, datasets) for key, datasets in self._by_node.items())
        return {relation.name.casefold(): datasets for relation, datasets in relations if relation is not None}

    def _datasets_of(self, relation: str) -> tuple[Dataset, ...]:
        """Return the datasets of a relation by its dotted name: a node's, else a table of a catalog."""
        datasets = self._by_relation.get(relation.casefold())
        if datasets is not None:
            return datasets
        *before, identifier = relation.rsplit(".", 2)
        schema = before[-1] if before else None
        return (self._datasets.of_table(Relation(identifier, schema, before[0] if len(before) > 1 else None), None),)

    @cached_property
    def _columns(self) -> dict[Dataset, Mapping[str, Mapping[str, Any]]]:
        """The declared columns of the datasets of nodes."""
        return {
            dataset: _column_declarations(self._nodes[key])
            for key, datasets in self._by_node.items()
            for dataset in datasets
        }

    def _column_lineage(self, lineage: ModelLineage | None) -> dict[str, Any]:
        if lineage is None:
            return {}
        datasets = {relation.casefold(): self._datasets_of(relation) for relation in _relations(lineage)}
        columns = [(column.column, column.inputs) for column in lineage.table.columns]
        return facets.column_lineage(columns, lineage.table.rows, datasets)


def _relations(lineage: ModelLineage) -> list[str]:
    """The relations that a model's columns and rows come from."""
    inputs: list[Input] = [*lineage.table.rows]
    for column in lineage.table.columns:
        inputs += column.inputs
    return list(dict.fromkeys(column_input.relation for column_input in inputs))


def _column_declarations(node: Node) -> Mapping[str, Mapping[str, Any]]:
    return node.columns if isinstance(node, (RefNode, SourceNode)) else {}


def _dataset(dataset: Dataset, content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "namespace": dataset.namespace,
        "name": dataset.name,
        "facets": {**facets.symlinks(dataset), **content},
    }


def web_address(url: str) -> str | None:
    """The web page of a repository, of its address for git; None where it has none, as a folder has."""
    address = url if url.startswith(("http://", "https://")) else _SSH.sub(r"https://\1/\2", url)
    return address.removesuffix("/").removesuffix(".git") if address.startswith("http") else None
