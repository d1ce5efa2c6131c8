"""Where the name under a cursor is defined."""

from __future__ import annotations

from merge_runner.graph.graph import Node
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.names.symbol import Symbol, is_source_name, symbol_at
from merge_runner.lsp.syntax.outline import yaml_outline
from merge_runner.text import Place, SourceText, Span


def definition(project: ProjectIndex, path: str, text: str, offset: int) -> list[Place]:
    """Return the places of the definition of what a cursor is on, the best one first; none where it is not known.

    A model is defined by its file, and in YAML also by that; from there, and from its file, its description is found.
    A column is where YAML declares it, else where the query computes it.
    """
    symbol = symbol_at(project, path, text, offset)
    if symbol is None:
        return []
    source = SourceText(path, text)
    if symbol.kind == "node":
        return _node_places(project, symbol, path)
    if symbol.kind == "macro":
        macro = project.macro(symbol.name)
        return [macro.place] if macro is not None else []
    if symbol.kind == "var":
        place = project.var_place(symbol.name)
        return [place] if place is not None else []
    if symbol.kind == "relation":
        return _relation_places(project, symbol, source)
    return _column_places(project, symbol, source) if symbol.kind == "column" else []


def _node_places(project: ProjectIndex, symbol: Symbol, path: str) -> list[Place]:
    if symbol.node is None:
        return []
    if is_source_name(symbol):
        return _source_places(project, symbol.node, symbol.name)
    place = project.place(symbol.node)
    described = described_place(project, symbol.node)
    places = [place] if described is None or described.path == place.path else [place, described]
    # from its own file, or its description, to the other one
    return [other for other in places if other.path != path] or places


def _source_places(project: ProjectIndex, node: Node, name: str) -> list[Place]:
    root = yaml_outline(project.text(node.path))
    sources = root.get("sources")
    for item in sources.children if sources is not None else ():
        item_name = item.get("name")
        if item_name is not None and item_name.value == name:
            return [_place(project, node.path, item_name.value_span)]
    return [project.place(node)]


def described_place(project: ProjectIndex, node: Node) -> Place | None:
    """Return where YAML names a model, seed or source."""
    entry, path = project.described(node), project.described_in(node)
    name = entry.get("name") if entry is not None else None
    return _place(project, path, name.value_span) if name is not None and path is not None else None


def _relation_places(project: ProjectIndex, symbol: Symbol, source: SourceText) -> list[Place]:
    relation = symbol.relation
    assert relation is not None
    is_table = relation.span.start <= symbol.span.start and symbol.span.end <= relation.span.end
    if is_table and symbol.node is not None:
        return _node_places(project, symbol, source.path)
    if symbol.node is not None and relation.name_span == symbol.span:
        return [project.place(symbol.node)]  # from where an alias is given, on to what it names
    if relation.name_span is not None:
        return [source.place(relation.name_span.start, relation.name_span.end)]
    return [source.place(relation.span.start, relation.span.end)]


def _column_places(project: ProjectIndex, symbol: Symbol, source: SourceText) -> list[Place]:
    here = project.model_at(source.path)
    if symbol.select is not None and (symbol.relation is None or symbol.relation.query is not None):
        column = project.column(symbol.select, symbol.qualifier, symbol.name, here)
        if column is not None and column.span is not None:
            return [source.place(column.span.start, column.span.end)]
    if symbol.node is None:
        return []
    place = project.column_place(symbol.node, symbol.name)
    return [place] if place is not None else [project.place(symbol.node)]


def _place(project: ProjectIndex, path: str, span: Span) -> Place:
    return project.source_text(path).place(span.start, span.end)
