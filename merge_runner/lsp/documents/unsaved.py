"""A model as an editor has it: what it renders to, and the verdict on its MERGE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import ModelNode
from merge_runner.lint.context import LintedMerge
from merge_runner.lint.run.project_units import ProjectUnits
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.plan.load.project_context import Prepared
from merge_runner.pruning.verdict import Condition
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText, Span


@dataclass(frozen=True)
class Unsaved:
    """A text of a model; `rendered` None: its Jinja has a fault, `merge` None: it has no MERGE that parses."""

    rendered: RenderedText | None = None
    merge: LintedMerge | None = None

    def condition_at(self, offset: int) -> Condition | None:
        """Return the condition of ON, or of a WHEN clause, that a cursor is in."""
        if self.merge is None or self.rendered is None:
            return None
        judgement = self.merge.judgement
        for condition in (*judgement.on, *(conjunct for clause in judgement.when for conjunct in clause)):
            span = self.rendered.map.span(condition.span.start, condition.span.end)
            if span.start <= offset <= span.end:
                return condition
        return None

    def produced(self, tag: Span) -> str | None:
        """Return what the tag at a span of the text has put into the SQL; None where it was not rendered."""
        if self.rendered is None or tag not in self.rendered.map.tags:
            return None
        return "".join(self._pieces(self.rendered, tag))

    def _pieces(self, rendered: RenderedText, tag: Span) -> Iterator[str]:
        source_map = rendered.map
        ends = (*source_map.starts[1:], len(rendered.text))
        for start, end, origin in zip(source_map.starts, ends, source_map.origins, strict=True):
            if origin < 0 and source_map.tags[-1 - origin] == tag:
                yield rendered.text[start:end]


def with_model_text(prepared: Prepared, node: ModelNode, text: str) -> Prepared:
    """Return a project in which a model has another text; its graph is as it was."""
    if text == node.raw_code:
        return prepared
    model = prepared.files.models[node.name]
    nodes = {**prepared.graph.nodes, node.unique_id: replace(node, raw_code=text)}
    models = {**prepared.files.models, node.name: replace(model, source=SourceText(node.path, text))}
    files, graph = replace(prepared.files, models=models), replace(prepared.graph, nodes=nodes)
    return replace(prepared, files=files, graph=graph, on_log=lambda _log: None)


def unsaved(project: ProjectIndex, path: str, text: str) -> Unsaved:
    """Return what is known of this text of a model; kept for the texts of the last requests.

    What YAML and the settings say of it, and the tables that it reads, are those of the last state of the project.
    There is no verdict where the config in the text is another one than in that state.
    """
    return project.recent((path, text), lambda: _unsaved(project, path, text))


def _unsaved(project: ProjectIndex, path: str, text: str) -> Unsaved:
    node = project.model_at(path)
    if node is None:
        return Unsaved()
    prepared = with_model_text(project.prepared, node, text)
    try:
        rendered = prepared.compiler.render(node.unique_id)
        saved = project.prepared.compiler.render(node.unique_id)
    except ProblemsError:
        return Unsaved()
    if rendered.captured.config.values != saved.captured.config.values:
        return Unsaved(rendered)  # the layout of the target may be another one
    return Unsaved(rendered, ProjectUnits(prepared, project.layouts).merge(node.unique_id))
