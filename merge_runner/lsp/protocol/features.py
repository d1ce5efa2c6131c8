"""The language features as requests of the protocol: what a client asks at a position of a document."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer

from merge_runner.lsp.answers import symbols
from merge_runner.lsp.answers.code_lenses import CodeLens, code_lenses, plain_lenses
from merge_runner.lsp.answers.completion import MOST, completions, typed
from merge_runner.lsp.answers.definition import definition
from merge_runner.lsp.answers.found_merges import merge_hints, merge_hover
from merge_runner.lsp.answers.hover import Hover, hover
from merge_runner.lsp.answers.inlay_hints import InlayHint, inlay_hints
from merge_runner.lsp.answers.plain_completion import plain_completions
from merge_runner.lsp.answers.references import references
from merge_runner.lsp.answers.rename import RefusedRenameError, rename, renameable
from merge_runner.lsp.answers.semantic_tokens import KINDS, semantic_tokens
from merge_runner.lsp.answers.signature_help import signature_help
from merge_runner.lsp.answers.sql_completion import Completion
from merge_runner.lsp.answers.symbols import DocumentSymbol, document_symbols, folding_ranges, workspace_symbols
from merge_runner.lsp.protocol import opened
from merge_runner.lsp.protocol.asked import Asked, Find, FindPlain, Plain
from merge_runner.lsp.protocol.positions import Positions

_COMPLETIONS = {
    "model": types.CompletionItemKind.File,
    "source": types.CompletionItemKind.Folder,
    "macro": types.CompletionItemKind.Function,
    "var": types.CompletionItemKind.Variable,
    "column": types.CompletionItemKind.Field,
    "relation": types.CompletionItemKind.Struct,
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "rule": types.CompletionItemKind.Constant,
    "builtin": types.CompletionItemKind.Keyword,
}
_SYMBOLS = {
    "model": types.SymbolKind.Class,
    "source": types.SymbolKind.Interface,
    "macro": types.SymbolKind.Function,
    "test": types.SymbolKind.Method,
    "column": types.SymbolKind.Field,
    "relation": types.SymbolKind.Struct,
    "statement": types.SymbolKind.Operator,
    "key": types.SymbolKind.Property,
}


_Answer = TypeVar("_Answer")


def add_features(server: LanguageServer, find: Find, find_plain: FindPlain) -> None:
    """Have a server answer what clients ask of documents that `find` knows. Work is done in threads.

    Of others, `find_plain` knows the MERGEs in them.
    """

    async def answer(uri: str, ask: Callable[[Asked], _Answer]) -> _Answer | None:
        found = await find(uri)
        return await asyncio.to_thread(ask, Asked(server, found)) if found is not None else None

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(params: types.HoverParams) -> types.Hover | None:
        known = await answer(params.text_document.uri, lambda asked: _hover_of(asked, params.position))
        plain = await find_plain(params.text_document.uri) if known is None else None
        if plain is None:
            return known
        positions, looked = await plain.looked()
        found = merge_hover(positions.text, looked, positions.offset(params.position))
        return _hover(positions, found) if found is not None else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: types.DefinitionParams) -> list[types.Location] | None:
        def ask(asked: Asked) -> list[types.Location]:
            return [asked.location(place) for place in definition(*asked.at(params.position))]

        return await answer(params.text_document.uri, ask)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def on_references(params: types.ReferenceParams) -> list[types.Location] | None:
        def ask(asked: Asked) -> list[types.Location]:
            found = references(*asked.at(params.position), declaration=params.context.include_declaration)
            return [asked.location(place) for place in found]

        return await answer(params.text_document.uri, ask)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=["'", '"', ".", "(", "=", ":", "[", " "]),
    )
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        uri, at = params.text_document.uri, params.position
        found = await answer(uri, lambda asked: _completion(asked.positions, at, completions(*asked.at(at))))
        plain = await find_plain(uri)
        if plain is None or plain.language is None:
            return found
        more = await asyncio.to_thread(_plain_completion, plain, at)
        known = {each.label for each in more.items}
        of_project = [each for each in found.items if each.label not in known] if found is not None else []
        return types.CompletionList(more.is_incomplete, [*more.items, *of_project])

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","]))
    async def on_signature_help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return await answer(params.text_document.uri, lambda asked: _signature(asked, params.position))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def on_inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        hints = await answer(params.text_document.uri, lambda asked: _inlay_hints(asked, params.range))
        plain = await find_plain(params.text_document.uri)
        if plain is None:
            return hints
        positions, looked = await plain.looked()
        start, end = positions.offset(params.range.start), positions.offset(params.range.end)
        found = merge_hints(positions.text, looked, start, end)
        return [*(hints or ()), *(_inlay_hint(positions, each) for each in found)]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def on_document_symbol(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        def ask(asked: Asked) -> list[types.DocumentSymbol]:
            return [_symbol(asked.positions, each) for each in document_symbols(asked.path, asked.text)]

        return await answer(params.text_document.uri, ask)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def on_folding_range(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        def ask(asked: Asked) -> list[types.FoldingRange]:
            ranges = [asked.positions.span(span) for span in folding_ranges(asked.path, asked.text)]
            return [types.FoldingRange(each.start.line, each.end.line) for each in ranges]

        return await answer(params.text_document.uri, ask)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, types.SemanticTokensLegend(list(KINDS), []))
    async def on_semantic_tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await answer(params.text_document.uri, _semantic_tokens)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def on_code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        uri = params.text_document.uri
        found = await answer(uri, _code_lenses)
        plain = await find_plain(uri) if not found else None
        if plain is None:
            return found
        positions, looked = await plain.looked()
        lenses = plain_lenses(positions.text, looked, plain.file.name)
        return [_code_lens(positions, each, str(plain.file.parent)) for each in lenses]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def on_prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        def ask(asked: Asked) -> types.Range:
            return asked.positions.span(_unless_refused(lambda: renameable(*asked.at(params.position))))

        return await answer(params.text_document.uri, ask)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def on_rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        return await answer(params.text_document.uri, lambda asked: _rename(asked, params))

    @server.feature(types.WORKSPACE_SYMBOL)
    async def on_workspace_symbol(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        found = [await find(each.uri) for each in opened.documents(server.workspace)]
        projects = {each.project: each for each in found if each is not None}
        named = [_named(Asked(server, each), params.query) for each in projects.values()]
        return [each for symbols in named for each in symbols]


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def _hover_of(asked: Asked, position: types.Position) -> types.Hover | None:
    found = hover(*asked.at(position))
    return _hover(asked.positions, found) if found is not None else None


def _hover(positions: Positions, found: Hover) -> types.Hover:
    return types.Hover(_markdown(found.markdown), positions.span(found.span))


def _plain_completion(plain: Plain, position: types.Position) -> types.CompletionList:
    assert plain.language is not None
    at = plain.positions.offset(position)
    found = plain_completions(plain.tables(), plain.language, plain.positions.text, at)
    return _completion(plain.positions, position, found)


def _completion(positions: Positions, position: types.Position, offered: Sequence[Completion]) -> types.CompletionList:
    found = typed(offered, positions.text, positions.offset(position))
    shown = found[:MOST]
    items = [
        types.CompletionItem(
            each.label,
            kind=_COMPLETIONS[each.kind],
            detail=each.detail or None,
            documentation=_markdown(each.markdown) if each.markdown else None,
            sort_text=f"{number:03}",
            filter_text=each.label,
            text_edit=types.TextEdit(positions.span(each.replaces), each.insert or each.label),
        )
        for number, each in enumerate(shown)
    ]
    return types.CompletionList(is_incomplete=len(shown) < len(found), items=items)


def _signature(asked: Asked, position: types.Position) -> types.SignatureHelp | None:
    found = signature_help(asked.project, asked.text, asked.positions.offset(position))
    if found is None:
        return None
    parameters = [types.ParameterInformation(each) for each in found.parameters]
    signature = types.SignatureInformation(found.label, _markdown(found.markdown), parameters, found.active)
    return types.SignatureHelp([signature], 0, found.active)


def _inlay_hints(asked: Asked, range: types.Range) -> list[types.InlayHint]:
    start, end = asked.positions.offset(range.start), asked.positions.offset(range.end)
    found = inlay_hints(asked.project, asked.path, asked.text, start, end)
    return [_inlay_hint(asked.positions, hint) for hint in found]


def _inlay_hint(positions: Positions, hint: InlayHint) -> types.InlayHint:
    return types.InlayHint(positions.at(hint.offset), hint.label, tooltip=_markdown(hint.markdown), padding_left=True)


def _semantic_tokens(asked: Asked) -> types.SemanticTokens:
    """Return five numbers for each name: its line and column after the one before it, its length, and its kind."""
    data: list[int] = []
    before = types.Position(0, 0)
    for token in semantic_tokens(asked.project, asked.text) if asked.path.endswith(".sql") else ():
        found = asked.positions.span(token.span)
        lines = found.start.line - before.line
        column = found.start.character - (0 if lines else before.character)
        data += [lines, column, found.end.character - found.start.character, KINDS.index(token.kind), 0]
        before = found.start
    return types.SemanticTokens(data)


def _symbol(positions: Positions, symbol: DocumentSymbol) -> types.DocumentSymbol:
    children = [_symbol(positions, each) for each in symbol.children]
    whole, name = positions.span(symbol.span), positions.span(symbol.name_span)
    return types.DocumentSymbol(symbol.name or "?", _SYMBOLS[symbol.kind], whole, name, children=children)


def _named(asked: Asked, query: str) -> Sequence[types.SymbolInformation]:
    return [
        types.SymbolInformation(
            asked.location(each.place), each.name, _SYMBOLS[each.kind], container_name=each.container
        )
        for each in workspace_symbols(asked.project, query)[: symbols.MOST]
    ]


def _code_lenses(asked: Asked) -> list[types.CodeLens]:
    root = str(asked.project.prepared.files.root)
    return [_code_lens(asked.positions, each, root) for each in code_lenses(asked.project, asked.path, asked.text)]


def _code_lens(positions: Positions, lens: CodeLens, root: str) -> types.CodeLens:
    arguments = {"root": root, "arguments": list(lens.arguments)}
    return types.CodeLens(positions.span(lens.span), types.Command(lens.title, lens.command, arguments=[arguments]))


def _rename(asked: Asked, params: types.RenameParams) -> types.WorkspaceEdit:
    found = _unless_refused(lambda: rename(*asked.at(params.position), params.new_name))
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
