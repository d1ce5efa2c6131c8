"""The language features as requests of the protocol: what a client asks at a position of a document.

What answers is imported with the first question, after the first diagnostics: a client that starts waits for these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from merge_runner.lsp.answers.token_kinds import KINDS
from merge_runner.lsp.documents.remark import Diagnosis
from merge_runner.lsp.protocol import opened, outside, within
from merge_runner.lsp.protocol.asked import Find, FindPlain, Plain, Request
from merge_runner.lsp.protocol.positions import Positions

_READ = (".sql", ".yml", ".yaml", ".toml")
"""The files that a project, or a template in it, has the names for."""
_Answer = TypeVar("_Answer")


class Asking:
    """Finds the document that a question is about, and has a thread answer it. None: it is another kind of document."""

    def __init__(self, server: LanguageServer, find: Find, find_plain: FindPlain) -> None:
        self.server = server
        self.find = find
        self._find_plain = find_plain

    async def within(self, uri: str, ask: Callable[[Request], _Answer]) -> _Answer | None:
        """Return the answer about a file of a project, or about SQL in its folder."""
        found = await self.find(uri)
        if found is None or not found.path.endswith(_READ):
            return None
        return await asyncio.to_thread(ask, Request(self.server, found))

    async def outside(self, uri: str, ask: Callable[[Plain], _Answer]) -> _Answer | None:
        """Return the answer about a document that is no file of a project."""
        plain = await self._find_plain(uri)
        return await asyncio.to_thread(ask, plain) if plain is not None else None

    async def anywhere(
        self, uri: str, within: Callable[[Request], _Answer | None], outside: Callable[[Plain], _Answer]
    ) -> _Answer | None:
        """Return the answer about a file of a project, else about a document that is none."""
        known = await self.within(uri, within)
        return known if known is not None else await self.outside(uri, outside)

    async def of_merges(self, uri: str, ask: Callable[[Plain, Positions, Diagnosis], _Answer]) -> _Answer | None:
        """Return the answer about the MERGEs of a document that is no file of a project."""
        plain = await self._find_plain(uri)
        return await asyncio.to_thread(ask, plain, *await plain.looked()) if plain is not None else None


def add_features(server: LanguageServer, find: Find, find_plain: FindPlain) -> None:
    """Have a server answer what clients ask of documents that `find` knows. Work is done in threads.

    Of others, `find_plain` knows the MERGEs and names in them.
    """
    asking = Asking(server, find, find_plain)
    _add_names(server, asking)
    _add_marks(server, asking)


def _add_names(server: LanguageServer, asking: Asking) -> None:
    """Answer what is asked at a cursor."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(params: types.HoverParams) -> types.Hover | None:
        uri, at = params.text_document.uri, params.position
        known = await asking.within(uri, lambda asked: within.hover(asked, at))
        found = await asking.of_merges(uri, lambda plain, text, looked: outside.hover(plain, text, looked, at))
        return found or known

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: types.DefinitionParams) -> list[types.Location] | None:
        uri, at = params.text_document.uri, params.position
        known = await asking.within(uri, lambda asked: within.definition(asked, at))
        return await asking.outside(uri, lambda plain: outside.definition(plain, at)) or known

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def on_references(params: types.ReferenceParams) -> list[types.Location] | None:
        uri = params.text_document.uri
        known = await asking.within(uri, lambda asked: within.references(asked, params))
        return await asking.outside(uri, lambda plain: outside.references(plain, params.position)) or known

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=["'", '"', ".", "(", "=", ":", "[", " "]),
    )
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        uri, at = params.text_document.uri, params.position
        found = await asking.within(uri, lambda asked: within.completion(asked, at))
        more = await asking.outside(uri, lambda plain: outside.completion(plain, at))
        if found is None or more is None:
            return found or more
        known = {each.label for each in more.items}
        of_project = [each for each in found.items if each.label not in known]
        return types.CompletionList(more.is_incomplete, [*more.items, *of_project])

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","]))
    async def on_signature_help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return await asking.within(params.text_document.uri, lambda asked: within.signature(asked, params.position))

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def on_prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        uri = params.text_document.uri
        return await asking.within(uri, lambda asked: within.prepare_rename(asked, params.position))

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def on_rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        return await asking.within(params.text_document.uri, lambda asked: within.rename(asked, params))


def _add_marks(server: LanguageServer, asking: Asking) -> None:
    """Answer what a client shows of a whole document, and of all."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def on_inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        uri = params.text_document.uri
        hints = await asking.within(uri, lambda asked: within.hints(asked, params.range))
        found = await asking.of_merges(uri, lambda _, text, looked: outside.hints(text, looked, params.range))
        return hints if found is None else [*(hints or ()), *found]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def on_document_symbol(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await asking.anywhere(params.text_document.uri, within.symbols, outside.symbols)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def on_folding_range(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        return await asking.anywhere(params.text_document.uri, within.folding, outside.folding)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, types.SemanticTokensLegend(list(KINDS), []))
    async def on_semantic_tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await asking.anywhere(params.text_document.uri, within.tokens, outside.tokens)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def on_code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        uri = params.text_document.uri
        known = await asking.within(uri, lambda asked: within.lenses(asked, uri))
        if known:
            return known
        return await asking.of_merges(uri, lambda plain, text, looked: outside.lenses(plain, text, looked, uri))

    @server.feature(types.WORKSPACE_SYMBOL)
    async def on_workspace_symbol(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        found = [await asking.find(each.uri) for each in opened.documents(server.workspace)]

        projects = {each.project: each for each in found if each is not None}
        named = [within.workspace_symbols(Request(server, each), params.query) for each in projects.values()]
        return [each for symbols in named for each in symbols]
