"""Renames a name in all its places, or says why it does not.

A name is renamed only where every place that has it is known: a word that may be the name and is not read as such is a
reason to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from merge_runner.graph.graph import ModelNode
from merge_runner.lint.run.project_units import ProjectUnits
from merge_runner.lsp.answers.references import Occurrence, files_of, occurrences
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.names.built_ins import BUILT_INS
from merge_runner.lsp.names.symbol import Symbol, symbol_at
from merge_runner.lsp.syntax.outline import Entry
from merge_runner.lsp.syntax.tokens import scanned
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.schema.selectors import FILE as SELECTORS
from merge_runner.pruning.query.read_using import inserted_columns
from merge_runner.template.static.macro_definitions import TEST_PREFIX
from merge_runner.text import SourceText, Span

_NAME = re.compile(r"[A-Za-z_]\w*")
_DISPATCHED = re.compile(r"(?:default|spark)__|generate_\w+_name\Z")


class RefusedRenameError(Exception):
    """The text says why a name is not renamed, and what to do."""


@dataclass(frozen=True)
class Renamed:
    """The edits of a rename: ranges that the new name takes, and the file of a model under its new name."""

    occurrences: tuple[Occurrence, ...]
    new_name: str
    moved: tuple[str, str] | None = None


def renameable(project: ProjectIndex, path: str, text: str, offset: int) -> Span:
    """Return the range of the name under a cursor. Raises RefusedRenameError where it cannot be renamed."""
    return _check_rename(project, path, text, offset)[0].span


def rename(project: ProjectIndex, path: str, text: str, offset: int, new_name: str) -> Renamed:
    """Return the edits that give the model, macro, alias, CTE or described column under a cursor another name.

    Raises RefusedRenameError.
    """
    symbol, places = _check_rename(project, path, text, offset)
    if not _NAME.fullmatch(new_name):
        raise RefusedRenameError(f'"{new_name}" is no name: letters, digits and underscores, no digit first')
    moved = None
    if symbol.kind == "node" and symbol.node is not None:
        if any(new_name.casefold() == name.casefold() for name in project.refs):
            raise RefusedRenameError(f'there is a model or seed "{new_name}"')
        folder, slash, _ = symbol.node.path.rpartition("/")
        moved = (symbol.node.path, f"{folder}{slash}{new_name}.sql")
    elif isinstance(symbol.node, ModelNode) and new_name.casefold() in _yaml_columns(project, path, text, symbol.node):
        raise RefusedRenameError(f'the model has a column "{new_name}" already')
    elif symbol.kind == "macro" and (new_name in project.macros or new_name in BUILT_INS):
        raise RefusedRenameError(f'there is a macro or built-in "{new_name}"')
    elif symbol.kind == "relation" and _has_word(text, new_name):
        raise RefusedRenameError(f'"{new_name}" is in this file: another alias, table or column may have the name')
    return Renamed(tuple(places), new_name, moved)


def _check_rename(project: ProjectIndex, path: str, text: str, offset: int) -> tuple[Symbol, list[Occurrence]]:
    symbol = symbol_at(project, path, text, offset)
    if symbol is None:
        raise RefusedRenameError("there is no name of the project here")
    if symbol.name == "this":
        raise RefusedRenameError("`this` is always the model itself: rename the model where `ref` names it")
    if symbol.kind == "node" and isinstance(symbol.node, ModelNode):
        _check_model(symbol.node)
        files: Iterable[str] = (*project.sql_files, *project.property_files, PYPROJECT, SELECTORS)
    elif symbol.kind == "macro" and symbol.name in project.macros:
        _check_macro(symbol.name)
        files = (*project.sql_files, *project.property_files)
    elif symbol.kind == "relation" and symbol.relation is not None and symbol.relation.name_span is not None:
        _check_alias(symbol, text)
        files = (path,)
    elif symbol.kind == "column" and isinstance(symbol.node, ModelNode) and not path.endswith(".sql"):
        _check_description(project, path, text, symbol, symbol.node)
        files = files_of(project, symbol, path)
    else:
        raise RefusedRenameError(_REFUSED.get(symbol.kind, "this is no name of the project"))
    places = occurrences(project, path, text, symbol)
    for file in dict.fromkeys((path, *files)):
        content = text if file == path else project.text(file)
        spans = [occurrence.span for occurrence in places if occurrence.path == file]
        if symbol.kind == "column":
            spans += _of_other_tables(project, symbol, file, content)
        _check_other_words(symbol, file, content, spans)
    return symbol, places


_REFUSED = {
    "node": "only models are renamed: a seed's or source's name is also that of files or tables",
    "column": "columns are not renamed: tables that were built have the column, and so may queries of others; "
    "one that YAML alone has is renamed there",
    "var": "vars are not renamed: schedulers and command lines may give them by name",
}


def _check_model(node: ModelNode) -> None:
    if node.materialized == "merge":
        raise RefusedRenameError(
            "batches and consumed changes are recorded by the name of a merge model: keep the name"
        )
    if node.materialized != "ephemeral" and node.config.alias is None:
        raise RefusedRenameError(
            f'its {node.materialized} in the catalog has the name, which others may read: set alias="{node.name}" first'
        )


def _check_description(project: ProjectIndex, path: str, text: str, symbol: Symbol, node: ModelNode) -> None:
    """Raise RefusedRenameError unless a column is in YAML alone: no table is known to have it."""
    columns = _query_column_names(project, node)
    if columns is None:
        raise RefusedRenameError(f'the columns of {node.path} are not all known: "{symbol.name}" may be one of them')
    if symbol.name.casefold() in {column.casefold() for column in columns}:
        raise RefusedRenameError(f'{node.path} gives the column "{symbol.name}": {_REFUSED["column"]}')
    keys = _yaml_columns(project, path, text, node).get(symbol.name.casefold())
    if node.materialized == "merge" and keys is not None and keys.get("data_type") is not None:
        raise RefusedRenameError(
            f'"{symbol.name}" has a data_type, and a table is created of the declared columns: it may have the column'
        )


def _query_column_names(project: ProjectIndex, node: ModelNode) -> Collection[str] | None:
    """Return the columns that the query or MERGE of a model gives; None where they are not all known."""
    if node.materialized != "merge":
        return project.layouts.names(node.unique_id)
    merge = ProjectUnits(project.prepared, project.layouts).merge(node.unique_id)
    columns = inserted_columns(merge.statement, merge.source) if merge is not None else None
    return [column.name for column in columns] if columns is not None else None


def _yaml_columns(project: ProjectIndex, path: str, text: str, node: ModelNode) -> dict[str, Entry]:
    """Return the entries of a model's columns in YAML by their names, case folded."""
    entry = project.described(node, text if path == node.patch_path else None)
    columns = entry.get("columns") if entry is not None else None
    names = [(entry.get("name"), entry) for entry in columns.children] if columns is not None else []
    return {name.value.casefold(): entry for name, entry in names if name is not None}


def _of_other_tables(project: ProjectIndex, symbol: Symbol, path: str, text: str) -> Iterator[Span]:
    """Yield the places of columns of this name that other tables have."""
    for span in _words(symbol, path, text):
        other = symbol_at(project, path, text, span.start)
        if other is not None and other.kind == "column" and other.node not in (None, symbol.node):
            yield other.span


def _check_macro(name: str) -> None:
    if name.startswith(TEST_PREFIX) or _DISPATCHED.match(name):
        raise RefusedRenameError(f'"{name}" is called by a part of its name: rename it by hand')


def _check_alias(symbol: Symbol, text: str) -> None:
    scan = scanned(text)
    word = re.compile(rf"(?<!\w){re.escape(symbol.name)}(?!\w)", re.IGNORECASE)
    for token in scan.tokens:
        if token.tag >= 0 and word.search(token.text):
            line = SourceText("", text).place(token.start).line
            raise RefusedRenameError(f'a tag in line {line} has "{symbol.name}", which may be the alias')


def _check_other_words(symbol: Symbol, path: str, text: str, places: list[Span]) -> None:
    """Raise RefusedRenameError for a word that may be the name and is none of the known places."""
    for span in _words(symbol, path, text):
        if span not in places:
            place = SourceText(path, text).place(span.start)
            raise RefusedRenameError(f'{place} has "{symbol.name}" in another meaning, or one that is not known')


def _words(symbol: Symbol, path: str, text: str) -> Iterator[Span]:
    word = re.compile(rf"(?<!\w){re.escape(symbol.name)}(?!\w)", re.IGNORECASE)
    if not path.endswith(".sql"):
        for match in word.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if "#" not in line and not re.match(r"\s*(?:-\s+)?description\s*:", line):
                yield Span(*match.span())
        return
    for token in scanned(text).tokens:
        in_tag = token.tag >= 0 or symbol.kind in ("relation", "column")
        if in_tag and token.kind != "comment" and not (token.kind == "string" and token.tag < 0):
            for match in word.finditer(token.text):
                yield Span(token.start + match.start(), token.start + match.end())


def _has_word(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
