"""Where the name under a cursor is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.names.symbol import Symbol, is_source_name, symbol_at
from merge_runner.lsp.syntax.tokens import scanned
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.text import Place, SourceText, Span


@dataclass(frozen=True, order=True)
class Occurrence:
    """A name in a file of the project. `defines`: it is where the name is defined, or its description begins."""

    path: str
    span: Span
    defines: bool = False


def references(project: ProjectIndex, path: str, text: str, offset: int, *, declaration: bool = True) -> list[Place]:
    """Return the places where what a cursor is on is named, with its definition where `declaration` says so."""
    symbol = symbol_at(project, path, text, offset)
    if symbol is None:
        return []
    places = [
        occurrence for occurrence in occurrences(project, path, text, symbol) if declaration or not occurrence.defines
    ]
    texts = {
        occurrence.path: SourceText(occurrence.path, text if occurrence.path == path else project.text(occurrence.path))
        for occurrence in places
    }
    return [texts[occurrence.path].place(occurrence.span.start, occurrence.span.end) for occurrence in places]


def occurrences(project: ProjectIndex, path: str, text: str, symbol: Symbol) -> list[Occurrence]:
    """Return the places of a symbol of the document `path`, in the order of files and lines."""
    name = symbol.node.name if symbol.kind == "node" and symbol.node is not None else symbol.name
    name = symbol.name if is_source_name(symbol) else name
    identity = _identity(symbol, path)
    word = name.rpartition(".")[2] if symbol.kind == "macro" else name
    places: list[Occurrence] = []
    for file in files_of(project, symbol, path):
        content = text if file == path else project.text(file)
        for offset in _candidates(file, content, word, quoted=symbol.kind == "var" and file != PYPROJECT):
            other = symbol_at(project, file, content, offset)
            if other is not None and other.name.casefold() == name.casefold() and _identity(other, file) == identity:
                places.append(Occurrence(file, other.span, _defines(file, content, other)))
    return sorted(set(places))


def _identity(symbol: Symbol, path: str) -> tuple[object, ...]:
    """Return what two symbols of one thing have in common."""
    if symbol.kind == "node":
        if is_source_name(symbol):
            return ("source", symbol.name)
        return ("node", symbol.node.unique_id if symbol.node is not None else symbol.name)
    if symbol.kind == "column":
        owner = symbol.node.unique_id if symbol.node is not None else path
        return ("column", owner, symbol.name.casefold())
    if symbol.kind == "relation":
        return ("relation", path, symbol.relation.name_span if symbol.relation is not None else None)
    return (symbol.kind, symbol.name)


def files_of(project: ProjectIndex, symbol: Symbol, path: str) -> Iterable[str]:
    """Return the files in which a symbol may be named: all of the project, or those that read the table of a column."""
    if symbol.kind in ("relation", "key", "rule", "builtin"):
        return [path]
    everywhere = dict.fromkeys((path, *project.sql_files, *project.property_files))
    if symbol.kind in ("var", "config"):
        return [*everywhere, PYPROJECT]
    if symbol.kind != "column":
        return everywhere
    if symbol.node is None:
        return [path]
    graph = project.prepared.graph
    ids = [symbol.node.unique_id, *graph.dag.succ[symbol.node.unique_id]]
    nodes = [graph.nodes[unique_id] for unique_id in ids if unique_id in graph.nodes]
    paths = {node.path for node in nodes} | {node.patch_path for node in nodes if node.patch_path is not None}
    return [file for file in everywhere if file in paths or file == path]


def _candidates(path: str, text: str, name: str, *, quoted: bool) -> Iterator[int]:
    """Yield the offsets at which the name is in a text, outside comments of Jinja."""
    before, after = ("(?<=['\"])", "(?=['\"])") if quoted else (r"(?<!\w)", r"(?!\w)")
    pattern = re.compile(rf"{before}{re.escape(name)}{after}", re.IGNORECASE)
    matches = [match.start() for match in pattern.finditer(text)]
    if not matches or not path.endswith(".sql"):
        yield from matches
        return
    hidden = [tag.span for tag in scanned(text).tags if tag.opening == "{#"]
    yield from (at for at in matches if not any(span.start <= at < span.end for span in hidden))


_DEFINES = re.compile(r"\{%[-+]?\s*(?:macro|test|data_test)\s+\Z")


def _defines(path: str, text: str, symbol: Symbol) -> bool:
    if symbol.kind == "macro" and path.endswith(".sql"):
        return _DEFINES.search(text, max(0, symbol.span.start - 40), symbol.span.start) is not None
    if symbol.kind == "relation" and symbol.relation is not None:
        return symbol.relation.name_span == symbol.span
    if symbol.kind == "var":
        return path == PYPROJECT
    return symbol.kind in ("node", "column") and not path.endswith(".sql") and _is_name(text, symbol.span)


def _is_name(text: str, span: Span) -> bool:
    line = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    return re.search(r"\bname:\s*['\"]?\Z", line) is not None
