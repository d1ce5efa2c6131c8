"""The SQL that a model renders to, and which of its author's lines or tags each part comes from."""

from __future__ import annotations

from collections.abc import Iterator

from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import ModelNode
from merge_runner.lsp.answers.view import Link, View, line_spans
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.unsaved import with_model_text
from merge_runner.lsp.names.symbol import described_node
from merge_runner.lsp.syntax.outline import yaml_outline
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import Span


def compiled_view(project: ProjectIndex, path: str, text: str, offset: int) -> View | None:
    """Return what a text of a model, or of the one that YAML describes at a cursor, renders to in an incremental run.

    None where there is no model. A text that cannot be rendered has the errors instead, each with its place.
    """
    node = project.model_at(path)
    if node is None and path.endswith((".yml", ".yaml")):
        entries = [entry for entry in yaml_outline(text).walk() if entry.span.start <= offset <= entry.end]
        described = described_node(project, entries[-1]) if entries else None
        node = described if isinstance(described, ModelNode) else None
        text = project.text(node.path) if node is not None else text
    if node is None:
        return None
    prepared, title = with_model_text(project.prepared, node, text), f"{node.name} (compiled)"
    try:
        rendered = prepared.compiler.render(node.unique_id)
    except ProblemsError as error:
        lines, links, start = [], [], 0
        for problem in error.problems:
            line = f"-- {problem.place}: {problem.message}" if problem.place is not None else f"-- {problem.message}"
            lines.append(" ".join(line.split()))
            links += [Link(Span(start, start + len(lines[-1])), problem.place)] if problem.place is not None else []
            start += len(lines[-1]) + 1
        return View(title, "\n".join(lines) + "\n", tuple(links)).concealed(prepared)
    return View(title, rendered.text, tuple(_links(rendered))).concealed(prepared)


def _links(rendered: RenderedText) -> Iterator[Link]:
    """Yield a link for each part that a tag has put there, and for each line of the author's."""
    source_map, text = rendered.map, rendered.text
    for start, end, origin in zip(
        source_map.starts, (*source_map.starts[1:], len(text)), source_map.origins, strict=True
    ):
        if origin < 0:
            tag = source_map.tags[-1 - origin]
            yield from (Link(span, rendered.source.place(tag.start, tag.end)) for span in line_spans(text, start, end))
        else:
            yield from (Link(span, rendered.place(span.start, span.end), True) for span in line_spans(text, start, end))
