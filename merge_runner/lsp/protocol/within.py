"""What clients ask of the files of a project: models, macros, YAML, TOML, and SQL with its Jinja."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidRequest

from merge_runner.lsp.answers import code_lenses as lenses_of
from merge_runner.lsp.answers import completion as completion_of
from merge_runner.lsp.answers import definition as definition_of
from merge_runner.lsp.answers import hover as hover_of
from merge_runner.lsp.answers import inlay_hints as hints_of
from merge_runner.lsp.answers import references as references_of
from merge_runner.lsp.answers import semantic_tokens as tokens_of
from merge_runner.lsp.answers import signature_help as signature_of
from merge_runner.lsp.answers import symbols as symbols_of
from merge_runner.lsp.answers.rename import RefusedRenameError, renameable
from merge_runner.lsp.answers.rename import rename as renamed
from merge_runner.lsp.protocol.answer_messages import (
    SYMBOLS,
    completion_list,
    folding_message,
    hover_message,
    inlay_hint,
    lens_message,
    markdown,
    symbol_message,
    tokens_message,
)
from merge_runner.lsp.protocol.asked import Request

_Answer = TypeVar("_Answer")


def hover(asked: Request, position: types.Position) -> types.Hover | None:
    """Return what is known of what a cursor is on."""
    found = hover_of.hover(*asked.at(position))
    return hover_message(asked.positions, found) if found is not None else None


def definition(asked: Request, position: types.Position) -> list[types.Location]:
    """Return where a name is defined."""
    return [asked.location(place) for place in definition_of.definition(*asked.at(position))]


def references(asked: Request, params: types.ReferenceParams) -> list[types.Location]:
    """Return where a name is used."""
    declaration = params.context.include_declaration
    found = references_of.references(*asked.at(params.position), declaration=declaration)
    return [asked.location(place) for place in found]


def completion(asked: Request, position: types.Position) -> types.CompletionList:
    """Return what may be written at a position."""
    return completion_list(asked.positions, position, completion_of.completions(*asked.at(position)))


def signature(asked: Request, position: types.Position) -> types.SignatureHelp | None:
    """Return the signature of the call that a cursor is in."""
    found = signature_of.signature_help(asked.project, asked.text, asked.positions.offset(position))
    if found is None:
        return None
    parameters = [types.ParameterInformation(each) for each in found.parameters]
    information = types.SignatureInformation(found.label, markdown(found.markdown), parameters, found.active)
    return types.SignatureHelp([information], 0, found.active)


def hints(asked: Request, range: types.Range) -> list[types.InlayHint]:
    """Return the hints in a range."""
    start, end = asked.positions.offset(range.start), asked.positions.offset(range.end)
    found = hints_of.inlay_hints(asked.project, asked.path, asked.text, start, end)
    return [inlay_hint(asked.positions, hint) for hint in found]


def symbols(asked: Request) -> list[types.DocumentSymbol]:
    """Return the symbols of a document."""
    return [symbol_message(asked.positions, each) for each in symbols_of.document_symbols(asked.path, asked.text)]


def workspace_symbols(asked: Request, query: str) -> Sequence[types.SymbolInformation]:
    """Return the symbols of the project whose names have the characters of a query."""
    return [
        types.SymbolInformation(
            asked.location(each.place), each.name, SYMBOLS[each.kind], container_name=each.container
        )
        for each in symbols_of.workspace_symbols(asked.project, query)[: symbols_of.MOST]
    ]


def folding(asked: Request) -> list[types.FoldingRange]:
    """Return the ranges that fold."""
    return folding_message(asked.positions, symbols_of.folding_ranges(asked.path, asked.text))


def tokens(asked: Request) -> types.SemanticTokens:
    """Return what the names of a file with SQL are."""
    is_sql = asked.path.endswith(".sql")
    found = tokens_of.semantic_tokens(asked.project.macros, asked.text) if is_sql else ()
    return tokens_message(asked.positions, found)


def lenses(asked: Request, uri: str) -> list[types.CodeLens]:
    """Return the commands above models and unit tests."""
    root = str(asked.project.prepared.files.root)
    found = lenses_of.code_lenses(asked.project, asked.path, asked.text)
    return [lens_message(asked.positions, each, uri, root) for each in found]


def prepare_rename(asked: Request, position: types.Position) -> types.Range:
    """Return the range of a name that can be renamed. Raises JsonRpcInvalidRequest for another one."""
    return asked.positions.span(_unless_refused(lambda: renameable(*asked.at(position))))


def rename(asked: Request, params: types.RenameParams) -> types.WorkspaceEdit:
    """Return the edits of a rename. Raises JsonRpcInvalidRequest where it is refused."""
    found = _unless_refused(lambda: renamed(*asked.at(params.position), params.new_name))
    edits: dict[str, list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]] = {}
    for each in found.occurrences:
        edit = types.TextEdit(asked.of(each.path).span(each.span), found.new_name)
        edits.setdefault(asked.uri(each.path), []).append(edit)
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = [
        types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri), each) for uri, each in edits.items()
    ]
    if found.moved is not None:
        old, new = map(asked.uri, found.moved)
        changes.append(types.RenameFile(old_uri=old, new_uri=new))
    return types.WorkspaceEdit(document_changes=changes)


def _unless_refused(ask: Callable[[], _Answer]) -> _Answer:
    """Return an answer. Raises JsonRpcInvalidRequest, whose message clients show, where a rename is refused."""
    try:
        return ask()
    except RefusedRenameError as refused:
        raise JsonRpcInvalidRequest(str(refused)) from None
