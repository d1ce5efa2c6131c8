"""The server: which messages of the protocol it takes, and when a document is looked at."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from merge_runner.lsp.diagnostics import diagnostics
from merge_runner.lsp.findings import Remark, remarks
from merge_runner.text import Place
from merge_runner.version import version

_PAUSE = 0.1
"""Seconds without a change after which a document is looked at."""


class Server(LanguageServer):
    """Looks at one document at a time, and gives what was found in the newest version of it alone.

    A client that asks for diagnostics gets them when it asks, any other when a document has changed.
    """

    def __init__(self) -> None:
        super().__init__("merge-runner", version())
        self._looking: asyncio.Lock | None = None
        self._pushes: dict[str, asyncio.Task[None]] = {}

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics."""
        documents = self.client_capabilities.text_document
        return documents is not None and documents.diagnostic is not None

    async def diagnosed(self, uri: str) -> tuple[int | None, list[types.Diagnostic]]:
        """Return a version of the document that was the newest when it had been looked at, and what is wrong in it."""
        self._looking = self._looking or asyncio.Lock()
        while True:
            await asyncio.sleep(_PAUSE)
            async with self._looking:
                if uri not in self.workspace.text_documents:
                    return None, []
                document = self.workspace.text_documents[uri]
                seen, text = document.version, document.source
                found = await asyncio.to_thread(self._remarks, uri, text)
            newest = self.workspace.text_documents.get(uri)
            if newest is not None and newest.version == seen:
                return seen, diagnostics(found, text, self.workspace.position_codec)

    def _remarks(self, uri: str, text: str) -> list[Remark]:
        path = to_fs_path(uri)
        if path is None:  # not on this machine, or in no file yet
            return []
        try:
            return remarks(Path(path), text, os.environ)
        except Exception as error:  # a fault of ours must not end the server: the next version may be fine
            message = f"this is a fault of merge-runner, please report it: {type(error).__name__}: {error}"
            return [Remark(Place(path, 1, 1), "internal", message, "error")]

    def changed(self, uri: str) -> None:
        """Look at a document where the client does not ask itself."""
        if self.pulls:
            return
        if uri in self._pushes:
            self._pushes[uri].cancel()
        self._pushes[uri] = asyncio.ensure_future(self._push(uri))

    async def _push(self, uri: str) -> None:
        seen, found = await self.diagnosed(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, seen))

    def saved(self) -> None:
        """Look at all open documents: they may depend on what is on disk now."""
        workspace = self.client_capabilities.workspace
        if not self.pulls:
            for uri in self.workspace.text_documents:
                self.changed(uri)
        elif workspace is not None and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
            self.workspace_diagnostic_refresh(None)


def make_server() -> Server:
    """Return a server that has not started yet."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(ls: Server, _params: types.DidSaveTextDocumentParams) -> None:
        ls.saved()

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="merge-runner"),
    )
    async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        _, found = await ls.diagnosed(params.text_document.uri)
        return types.RelatedFullDocumentDiagnosticReport(items=found)

    return server
