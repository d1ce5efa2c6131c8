"""The graph of a project in which the texts of a few models have changed, made of the graph that it had before."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from merge_runner.contributions import Contributions, key
from merge_runner.errors import ProblemsError
from merge_runner.graph.build import Builder
from merge_runner.graph.cycles import check_acyclic
from merge_runner.graph.graph import Dag, Graph, ModelNode, RefNode
from merge_runner.graph.invocation import Invocation
from merge_runner.graph.kept.nodes import heads_of, with_changed
from merge_runner.graph.references import check_access
from merge_runner.graph.streams import check_streams
from merge_runner.project.load.files import ModelFile, ProjectFiles
from merge_runner.project.schema.config import ModelConfig
from merge_runner.template.captured import Captured
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText


def with_changed_models(
    files: ProjectFiles,
    graph: Graph,
    texts: Mapping[str, SourceText],
    templates: Templates,
    invocation: Invocation,
    kept: Contributions,
) -> tuple[ProjectFiles, Graph] | None:
    """Return the files and the graph with other texts of the models that `texts` names.

    `graph` is that of a project without problems. None where the texts may change more than the nodes of their models:
    where one has a problem, is another table or is built in another way (tests, checks and other models look at that),
    or reads changes, which its parent has to record.
    """
    if any(head.changes_of is not None for head in heads_of(graph.nodes, ModelNode)):
        return None
    models = {name: replace(files.models[name], source=source) for name, source in texts.items()}
    files = replace(files, models=ChainMap(models, cast("dict[str, ModelFile]", files.models)))  # it is never written
    builder = _Builder(files, templates, invocation, kept, graph)
    builder.refs.update({head.name: head.unique_id for head in heads_of(graph.nodes, RefNode)})
    builder.add_models(texts)
    builder.captures.write(len(files.models) + len(files.singular_tests))
    same = all(_is_same_table(graph, node) for node in builder.nodes.values() if isinstance(node, ModelNode))
    if not same or builder.disabled or any(builder.changes.values()):
        return None
    if any(not graph.macros.keys() >= set(node.macros) for node in builder.nodes.values()):
        return None  # a macro of a package that no node has called before
    nodes = with_changed(graph.nodes, builder.nodes)
    check_streams(nodes, builder.problems)
    if files.groups:
        check_access(nodes, builder.refs_of, builder.refs, builder.problems)
    if builder.problems:
        return None
    dag = graph.dag
    if any(node.depends_on != graph.nodes[unique_id].depends_on for unique_id, node in builder.nodes.items()):
        dag = Dag({**dag.pred, **{unique_id: node.depends_on for unique_id, node in builder.nodes.items()}})
        try:
            check_acyclic(dag, nodes, builder.problems)
        except ProblemsError:
            return None
    paths = {source.path for source in texts.values()}
    warnings = {unique_id: found for unique_id, found in graph.warnings.items() if unique_id not in builder.nodes}
    vars_of = {path: found for path, found in graph.vars_of.items() if path not in paths}
    return files, replace(
        graph, nodes=nodes, dag=dag, warnings=warnings | builder.warnings, vars_of=vars_of | builder.vars_of
    )


class _Builder(Builder):
    """Makes nodes of a project that has the nodes of `graph` already."""

    def __init__(
        self, files: ProjectFiles, templates: Templates, invocation: Invocation, kept: Contributions, graph: Graph
    ) -> None:
        super().__init__(files, templates, invocation, kept)
        self._graph = graph

    def config(self, name: str, captured: Captured | None) -> ModelConfig:
        """Return the config of a model: that which it had, where its text gives the same as before."""
        node = self._graph.nodes.get(f"model.{self.project}.{name}")
        if captured is None or not isinstance(node, ModelNode):
            return super().config(name, captured)
        if key(dict(captured.config.values)) != key(node.unrendered_config):
            return super().config(name, captured)
        written = [
            layer.values["materialized"]
            for layer in (*self.files.models[name].layers, captured.config)
            if "materialized" in layer.values
        ]
        # Where nothing says how it is built, its text does; a model that is built in another way is refused below.
        return node.config if written and written[-1] is not None else replace(node.config, materialized=None)


def _is_same_table(graph: Graph, node: ModelNode) -> bool:
    """Return whether a model was enabled before, and the same table or view."""
    before = graph.nodes.get(node.unique_id)
    return before is not None and (before.relation, before.materialized) == (node.relation, node.materialized)
