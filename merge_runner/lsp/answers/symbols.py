"""The symbols of a document and of a project, and the ranges of a document that fold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from merge_runner.graph.graph import Node, RefNode, SourceNode, UnitTestNode
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.syntax.outline import Entry, toml_outline, yaml_outline
from merge_runner.lsp.syntax.relations import Statements
from merge_runner.lsp.syntax.statements import statements
from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.static.macro_definitions import macro_definitions
from merge_runner.text import Place, SourceText, Span

Kind = Literal["model", "source", "macro", "test", "column", "relation", "statement", "key"]
MOST = 200
"""As many symbols of a project are shown for what is typed."""
_LISTS = frozenset({"models", "seeds", "sources", "tables", "columns", "macros", "unit_tests"})
_INTO = re.compile(r"\binto\s+(?P<name>[^\s;]+)", re.IGNORECASE)
_CLAUSE = re.compile(r"\bwhen\s+(?:not\s+)?matched\b(?:\s+by\s+(?:source|target))?", re.IGNORECASE)


@dataclass(frozen=True)
class DocumentSymbol:
    """A part of a document: its range, that of its name, and the parts in it."""

    name: str
    kind: Kind
    span: Span
    name_span: Span
    children: tuple[DocumentSymbol, ...] = field(default=())


def document_symbols(path: str, text: str) -> list[DocumentSymbol]:
    """Return the symbols of a document: macros, the MERGE with its clauses, CTEs; what YAML describes; keys of TOML."""
    if path.endswith((".yml", ".yaml")):
        return list(_yaml(yaml_outline(text)))
    if path.endswith(".toml"):
        return [_entry(entry, "key") for entry in toml_outline(text).children]
    syntax = statements(text)
    return [*_macros(SourceText(path, text)), *_ctes(syntax), *_merges(syntax, text)]


def _yaml(root: Entry) -> Iterator[DocumentSymbol]:
    for entry in root.children:
        if entry.key in _LISTS:
            yield from (_describe(item) for item in entry.children if item.get("name") is not None)
        else:
            yield _entry(entry, "key")


def _describe(item: Entry) -> DocumentSymbol:
    kinds: dict[str | None, Kind] = {"columns": "column", "sources": "source", "tables": "source", "macros": "macro"}
    above = item.parent.key if item.parent is not None else None
    kind = kinds.get(above, "test" if above == "unit_tests" else "model")
    inner = [entry for child in item.children if child.key in _LISTS for entry in child.children]
    children = tuple(_describe(entry) for entry in inner if entry.get("name") is not None)
    name = item.get("name")
    assert name is not None
    return DocumentSymbol(name.value, kind, Span(item.span.start, item.end), name.value_span, children)


def _entry(entry: Entry, kind: Kind) -> DocumentSymbol:
    children = tuple(_entry(child, kind) for child in entry.children if child.key is not None)
    return DocumentSymbol(entry.key or "", kind, Span(entry.span.start, entry.end), entry.span, children)


def _macros(source: SourceText) -> Iterator[DocumentSymbol]:
    for macro in macro_definitions(source):
        start = source.offset(macro.place.line, macro.place.column)
        begin = source.text.rfind("{%", 0, start)
        name = Span(start, source.offset(macro.place.end_line or 1, macro.place.end_column or 1))
        yield DocumentSymbol(macro.name, "macro", Span(begin, begin + len(macro.text)), name)


def _ctes(syntax: Statements) -> Iterator[DocumentSymbol]:
    for cte in syntax.ctes:
        end = cte.query.span.end if cte.query is not None else cte.span.end
        yield DocumentSymbol(cte.qualifier or "", "relation", Span(cte.span.start, end), cte.span)


def _merges(syntax: Statements, text: str) -> Iterator[DocumentSymbol]:
    for merge in (select for select in syntax.selects if select.kind == "merge"):
        parts = [
            (f"using {relation.qualifier or ''}".strip(), relation.span.start)
            for relation in merge.relations
            if relation.is_source
        ]
        parts += [
            (" ".join(clause.group().lower().split()), clause.start())
            for clause in _CLAUSE.finditer(text, merge.span.start, merge.span.end)
        ]
        ends = [*(start for _, start in parts[1:]), merge.span.end]
        children = tuple(
            DocumentSymbol(name, "statement", _strip_end(text, start, end), Span(start, start))
            for (name, start), end in zip(parts, ends, strict=False)
        )
        head = Span(merge.span.start, merge.target.span.end if merge.target else merge.span.start)
        yield DocumentSymbol(
            "merge", "statement", _strip_end(text, *(merge.span.start, merge.span.end)), head, children
        )


def merge_symbols(text: str, merges: Sequence[RenderedText]) -> list[DocumentSymbol]:
    """Return the MERGEs in a text of code, each under the name of its target."""
    source, symbols = SourceText("", text), []
    for merge in merges:
        place = merge.place(0, len(merge.text))
        start = source.offset(place.line, place.column)
        end = source.offset(place.end_line or place.line, place.end_column or place.column)
        target = _INTO.search(merge.text)
        name = f"merge into {as_written(target['name'])}" if target is not None else "merge"
        symbols.append(DocumentSymbol(name, "statement", Span(start, end), Span(start, start)))
    return symbols


def _strip_end(text: str, start: int, end: int) -> Span:
    return Span(start, max(start, start + len(text[start:end].rstrip())))


@dataclass(frozen=True)
class WorkspaceSymbol:
    """Something of the project that has a name, and where it is defined."""

    name: str
    kind: Kind
    place: Place
    container: str = ""


def workspace_symbols(project: ProjectIndex, query: str) -> list[WorkspaceSymbol]:
    """Return the models, seeds, sources, macros and unit tests whose names have the characters of `query` in order."""
    pattern = re.compile(".*?".join(map(re.escape, query)), re.IGNORECASE)
    return [symbol for symbol in _all(project) if pattern.search(symbol.name)]


def _all(project: ProjectIndex) -> Iterator[WorkspaceSymbol]:
    for node in project.prepared.graph.nodes.values():
        kind = _kind(node)
        if kind is not None:
            place = project.place(node) if kind != "test" else node.place
            yield WorkspaceSymbol(node.full_name, kind, place, node.materialized or node.resource_type)
    for macro in project.macros.values():
        yield WorkspaceSymbol(macro.name, "macro", macro.place, "macro")


def _kind(node: Node) -> Kind | None:
    if isinstance(node, RefNode):
        return "model"
    if isinstance(node, SourceNode):
        return "source"
    return "test" if isinstance(node, UnitTestNode) else None


def folding_ranges(path: str, text: str) -> list[Span]:
    """Return the ranges that fold: what has several lines of a document's symbols, tags, comments and subqueries."""
    spans = [part.span for symbol in document_symbols(path, text) for part in _with_children(symbol)]
    if path.endswith(".sql"):
        syntax = statements(text)
        spans += [tag.span for tag in syntax.scan.tags if tag.closed]
        spans += [select.span for select in syntax.selects]
    elif not path.endswith(".toml"):
        spans += [Span(entry.span.start, entry.end) for entry in yaml_outline(text).walk() if entry.children]
    return sorted({Span(span.start, _end(text, span)) for span in spans if "\n" in span.of(text).rstrip()})


def _end(text: str, span: Span) -> int:
    return span.start + len(span.of(text).rstrip(" \n\t)"))


def _with_children(symbol: DocumentSymbol) -> Iterator[DocumentSymbol]:
    yield symbol
    for child in symbol.children:
        yield from _with_children(child)
