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
from merge_runner.lsp.protocol import client_documents, outside, within
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.lsp.protocol.request import Find, FindPlain, Plain, Request

_READ = (".sql", ".yml", ".yaml", ".toml")
"""The files that a project, or a template in it, has the names for."""
_Answer = TypeVar("_Answer")


class Router:
    """Finds the document that a question is about, and has a thread answer it. None: it is another kind of document."""

    def __init__(self, server: LanguageServer, find: Find, find_plain: FindPlain) -> None:
        self.server = server
        self.find = find
        self._find_plain = find_plain

    async def within(self, uri: str, ask: Callable[[Request], _Answer]) -> _Answer | None:
        """Return the answer about a file of a project, or about SQL in its folder."""
        document = await self.find(uri)
        if document is None or not document.path.endswith(_READ):
            return None
        return await asyncio.to_thread(ask, Request(self.server, document))

    async def outside(self, uri: str, ask: Callable[[Plain], _Answer]) -> _Answer | None:
        """Return the answer about a document that is no file of a project."""
        plain = await self._find_plain(uri)
        return await asyncio.to_thread(ask, plain) if plain is not None else None

    async def anywhere(
        self, uri: str, within: Callable[[Request], _Answer | None], outside: Callable[[Plain], _Answer]
    ) -> _Answer | None:
        """Return the answer about a file of a project, else about a document that is none."""
        answer = await self.within(uri, within)
        return answer if answer is not None else await self.outside(uri, outside)

    async def of_merges(self, uri: str, ask: Callable[[Plain, Positions, Diagnosis], _Answer]) -> _Answer | None:
        """Return the answer about the MERGEs of a document that is no file of a project."""
        plain = await self._find_plain(uri)
        return await asyncio.to_thread(ask, plain, *await plain.diagnose()) if plain is not None else None


def add_features(server: LanguageServer, find: Find, find_plain: FindPlain) -> None:
    """Have a server answer what clients ask of documents that `find` knows. Work is done in threads.

    Of others, `find_plain` knows the MERGEs and names in them.
    """
    router = Router(server, find, find_plain)
    _add_names(server, router)
    _add_marks(server, router)


def _add_names(server: LanguageServer, router: Router) -> None:
    """Answer what is asked at a cursor."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(params: types.HoverParams) -> types.Hover | None:
        uri, at = params.text_document.uri, params.position
        of_project = await router.within(uri, lambda request: within.hover(request, at))
        of_merge = await router.of_merges(uri, lambda plain, text, diagnosis: outside.hover(plain, text, diagnosis, at))
        return of_merge or of_project

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: types.DefinitionParams) -> list[types.Location] | None:
        uri, at = params.text_document.uri, params.position
        of_project = await router.within(uri, lambda request: within.definition(request, at))
        return await router.outside(uri, lambda plain: outside.definition(plain, at)) or of_project

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def on_references(params: types.ReferenceParams) -> list[types.Location] | None:
        uri = params.text_document.uri
        of_project = await router.within(uri, lambda request: within.references(request, params))
        return await router.outside(uri, lambda plain: outside.references(plain, params.position)) or of_project

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=["'", '"', ".", "(", "=", ":", "[", " "]),
    )
    async def on_completion(params: types.CompletionParams) -> types.CompletionList | None:
        uri, at = params.text_document.uri, params.position
        of_project = await router.within(uri, lambda request: within.completion(request, at))
        more = await router.outside(uri, lambda plain: outside.completion(plain, at))
        if of_project is None or more is None:
            return of_project or more
        labels = {item.label for item in more.items}
        others = [item for item in of_project.items if item.label not in labels]
        return types.CompletionList(more.is_incomplete, [*more.items, *others])

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","]))
    async def on_signature_help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return await router.within(params.text_document.uri, lambda request: within.signature(request, params.position))

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def on_prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        uri = params.text_document.uri
        return await router.within(uri, lambda request: within.prepare_rename(request, params.position))

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def on_rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        return await router.within(params.text_document.uri, lambda request: within.rename(request, params))


def _add_marks(server: LanguageServer, router: Router) -> None:
    """Answer what a client shows of a whole document, and of all."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def on_inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        uri = params.text_document.uri
        hints = await router.within(uri, lambda request: within.hints(request, params.range))
        of_merges = await router.of_merges(uri, lambda _, text, diagnosis: outside.hints(text, diagnosis, params.range))
        return hints if of_merges is None else [*(hints or ()), *of_merges]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def on_document_symbol(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await router.anywhere(params.text_document.uri, within.symbols, outside.symbols)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def on_folding_range(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        return await router.anywhere(params.text_document.uri, within.folding, outside.folding)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, types.SemanticTokensLegend(list(KINDS), []))
    async def on_semantic_tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await router.anywhere(params.text_document.uri, within.tokens, outside.tokens)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def on_code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        uri = params.text_document.uri
        of_project = await router.within(uri, lambda request: within.lenses(request, uri))
        if of_project:
            return of_project
        return await router.of_merges(uri, lambda plain, text, diagnosis: outside.lenses(plain, text, diagnosis, uri))

    @server.feature(types.WORKSPACE_SYMBOL)
    async def on_workspace_symbol(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        project_documents = [
            await router.find(document.uri) for document in client_documents.documents(server.workspace)
        ]

        projects = {document.project: document for document in project_documents if document is not None}
        symbols_of_projects = [
            within.workspace_symbols(Request(server, document), params.query) for document in projects.values()
        ]
        return [symbol for symbols in symbols_of_projects for symbol in symbols]
