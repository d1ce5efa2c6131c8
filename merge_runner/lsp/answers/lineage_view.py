"""Where the columns of a model come from and where they go to: in the hover of one, and as a text around a model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import ModelNode, Node, RefNode, SourceNode
from merge_runner.lsp.answers.view import Link, View
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.unsaved import with_model_text
from merge_runner.lsp.names.symbol import symbol_at
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.lineage.answer import list_inputs
from merge_runner.plan.lineage.model_lineage import LineageColumn, ModelLineage, ModelLineages, has_lineage
from merge_runner.plan.lineage.project_lineage import ProjectLineage
from merge_runner.plan.load.project_context import Prepared
from merge_runner.text import Span

_NAME = re.compile(r"\w+(?:\.\w+)*")
_INPUTS = 8
"""As many inputs of a column are named in its hover."""


def column_origin(project: ProjectIndex, path: str, text: str, node: Node, column: str) -> str:
    """Return what a column is made of: "from `stg_order.net` (aggregation)"; "" where nothing is known of it."""
    if not isinstance(node, ModelNode) or not has_lineage(node):
        return ""
    lineage_column = next(
        (candidate for candidate in _model_lineage(project, path, text, node).columns if _same(candidate, column)), None
    )
    direct = [part for part in lineage_column.value_inputs if part.is_direct] if lineage_column is not None else []
    parts = list(list_inputs(dict.fromkeys(direct), project.table_names))
    more = f" and {len(parts) - _INPUTS} more" if len(parts) > _INPUTS else ""
    return f"from {', '.join(map(_code, parts[:_INPUTS]))}{more}" if parts else ""


def _model_lineage(project: ProjectIndex, path: str, text: str, node: ModelNode) -> ModelLineage:
    """Return the lineage of a model; where its file is open, that of the text there."""
    if node.path != path:
        return project.lineages.of(node.unique_id)
    lineage: ModelLineage = project.recent(
        ("lineage", path, text), lambda: ModelLineages(*_with_text(project, node, text)).of(node.unique_id)
    )
    return lineage


def _with_text(project: ProjectIndex, node: ModelNode, text: str) -> tuple[Prepared, Layouts]:
    prepared = with_model_text(project.prepared, node, text)
    if prepared is project.prepared:
        return prepared, project.layouts
    try:
        return prepared, Layouts.load(prepared)
    except ProblemsError:
        return prepared, Layouts(prepared)


def _same(candidate: LineageColumn, column: str) -> bool:
    return candidate.column.casefold() == column.casefold()


def _code(part: str) -> str:
    name, space, kind = part.partition(" (")
    return f"`{name}`{space}{kind}"


def lineage_view(project: ProjectIndex, path: str, text: str, offset: int) -> View | None:
    """Return the lineage of the column that a cursor is on, else of the model that a file is of or describes there.

    None where there is neither.
    """
    symbol = symbol_at(project, path, text, offset)
    node: Node | None = symbol.node if symbol is not None and symbol.kind in ("node", "column") else None
    column = symbol.name if symbol is not None and symbol.kind == "column" and node is not None else None
    here = project.model_at(path)
    node = node or here
    if node is None:
        return None
    prepared, layouts = project.prepared, project.layouts
    if here is not None:
        prepared, layouts = _with_text(project, here, text)
    try:
        name = node.full_name if column is None else f"{node.full_name}.{column}"
        lines = list(ProjectLineage(prepared, layouts).ask(name).lines())
    except ProblemsError as error:
        lines = [problem.message for problem in error.problems]
    around = [*_around(project, node), ""] if column is None else []
    content = "\n".join([*around, *lines]) + "\n"
    title = node.full_name if column is None else f"{node.full_name}.{column}"
    return View(f"{title} (lineage)", content, tuple(_links(project, content))).concealed(prepared)


def _around(project: ProjectIndex, node: Node) -> Iterator[str]:
    """Yield the name of a node, what it reads and what reads it."""
    graph = project.prepared.graph
    yield f"{node.full_name} ({node.materialized or node.resource_type})"
    for title, ids in (
        ("reads", graph.dag.pred[node.unique_id]),
        ("is read by", graph.dag.succ[node.unique_id]),
    ):
        neighbours = [
            graph.nodes[unique_id] for unique_id in ids if isinstance(graph.nodes[unique_id], RefNode | SourceNode)
        ]
        descriptions = (
            f"{neighbour.full_name} ({neighbour.materialized or neighbour.resource_type})" for neighbour in neighbours
        )
        yield f"  {title} {', '.join(sorted(descriptions)) or 'nothing'}"


def _links(project: ProjectIndex, text: str) -> Iterator[Link]:
    """Yield a link for each name of a model, seed, source or column: to its file, or to where YAML declares it."""
    nodes = {node.full_name: node for node in (*project.refs.values(), *project.sources.values())}
    for match in _NAME.finditer(text):
        words = match.group().split(".")
        for count in range(len(words), 0, -1):
            name, rest = ".".join(words[:count]), words[count:]
            if name in nodes and len(rest) <= 1:
                place = project.column_place(nodes[name], rest[0]) if rest else None
                yield Link(Span(*match.span()), place or project.place(nodes[name]))
                break
