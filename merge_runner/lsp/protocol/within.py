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
from merge_runner.lsp.protocol.request import Request

_Answer = TypeVar("_Answer")


def hover(request: Request, position: types.Position) -> types.Hover | None:
    """Return what is known of what a cursor is on."""
    content = hover_of.hover(*request.at(position))
    return hover_message(request.positions, content) if content is not None else None


def definition(request: Request, position: types.Position) -> list[types.Location]:
    """Return where a name is defined."""
    return [request.location(place) for place in definition_of.definition(*request.at(position))]


def references(request: Request, params: types.ReferenceParams) -> list[types.Location]:
    """Return where a name is used."""
    declaration = params.context.include_declaration
    places = references_of.references(*request.at(params.position), declaration=declaration)
    return [request.location(place) for place in places]


def completion(request: Request, position: types.Position) -> types.CompletionList:
    """Return what may be written at a position."""
    return completion_list(request.positions, position, completion_of.completions(*request.at(position)))


def signature(request: Request, position: types.Position) -> types.SignatureHelp | None:
    """Return the signature of the call that a cursor is in."""
    function_help = signature_of.signature_help(request.project, request.text, request.positions.offset(position))
    if function_help is None:
        return None
    parameters = [types.ParameterInformation(parameter) for parameter in function_help.parameters]
    information = types.SignatureInformation(
        function_help.label, markdown(function_help.markdown), parameters, function_help.active
    )
    return types.SignatureHelp([information], 0, function_help.active)


def hints(request: Request, range: types.Range) -> list[types.InlayHint]:
    """Return the hints in a range."""
    start, end = request.positions.offset(range.start), request.positions.offset(range.end)
    inlay_hints = hints_of.inlay_hints(request.project, request.path, request.text, start, end)
    return [inlay_hint(request.positions, hint) for hint in inlay_hints]


def symbols(request: Request) -> list[types.DocumentSymbol]:
    """Return the symbols of a document."""
    return [
        symbol_message(request.positions, symbol) for symbol in symbols_of.document_symbols(request.path, request.text)
    ]


def workspace_symbols(request: Request, query: str) -> Sequence[types.SymbolInformation]:
    """Return the symbols of the project whose names have the characters of a query."""
    return [
        types.SymbolInformation(
            request.location(symbol.place), symbol.name, SYMBOLS[symbol.kind], container_name=symbol.container
        )
        for symbol in symbols_of.workspace_symbols(request.project, query)[: symbols_of.MOST]
    ]


def folding(request: Request) -> list[types.FoldingRange]:
    """Return the ranges that fold."""
    return folding_message(request.positions, symbols_of.folding_ranges(request.path, request.text))


def tokens(request: Request) -> types.SemanticTokens:
    """Return what the names of a file with SQL are."""
    is_sql = request.path.endswith(".sql")
    semantic = tokens_of.semantic_tokens(request.project.macros, request.text) if is_sql else ()
    return tokens_message(request.positions, semantic)


def lenses(request: Request, uri: str) -> list[types.CodeLens]:
    """Return the commands above models and unit tests."""
    root = str(request.project.prepared.files.root)
    code_lenses = lenses_of.code_lenses(request.project, request.path, request.text)
    return [lens_message(request.positions, lens, uri, root) for lens in code_lenses]


def prepare_rename(request: Request, position: types.Position) -> types.Range:
    """Return the range of a name that can be renamed. Raises JsonRpcInvalidRequest for another one."""
    return request.positions.span(_unless_refused(lambda: renameable(*request.at(position))))


def rename(request: Request, params: types.RenameParams) -> types.WorkspaceEdit:
    """Return the edits of a rename. Raises JsonRpcInvalidRequest where it is refused."""
    edits_of_name = _unless_refused(lambda: renamed(*request.at(params.position), params.new_name))
    edits: dict[str, list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]] = {}
    for occurrence in edits_of_name.occurrences:
        edit = types.TextEdit(request.of(occurrence.path).span(occurrence.span), edits_of_name.new_name)
        edits.setdefault(request.uri(occurrence.path), []).append(edit)
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = [
        types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri), text_edits)
        for uri, text_edits in edits.items()
    ]
    if edits_of_name.moved is not None:
        old, new = map(request.uri, edits_of_name.moved)
        changes.append(types.RenameFile(old_uri=old, new_uri=new))
    return types.WorkspaceEdit(document_changes=changes)


def _unless_refused(ask: Callable[[], _Answer]) -> _Answer:
    """Return an answer. Raises JsonRpcInvalidRequest, whose message clients show, where a rename is refused."""
    try:
        return ask()
    except RefusedRenameError as refused:
        raise JsonRpcInvalidRequest(str(refused)) from None
