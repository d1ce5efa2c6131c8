"""The server: which messages of the protocol it takes, and when a document is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from merge_runner.lsp.documents.open_documents import LONGEST, OpenDocuments, real_path
from merge_runner.lsp.documents.remark import Diagnosis, Remark
from merge_runner.lsp.protocol import client_documents
from merge_runner.lsp.protocol.code_actions import code_actions
from merge_runner.lsp.protocol.diagnostics import diagnostics, in_file, result_id
from merge_runner.lsp.protocol.features import add_features
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.lsp.protocol.request import OpenedDocument, Plain, Request
from merge_runner.lsp.protocol.scaffold_actions import scaffold_actions
from merge_runner.lsp.protocol.views import add_views
from merge_runner.lsp.protocol.workspace_diagnostics import WorkspaceDiagnostics
from merge_runner.text import Place
from merge_runner.version import version

_PAUSE = 0.03
"""Seconds without a change after which a document is looked at."""
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook(types.NotebookDocumentFilterNotebookType("jupyter-notebook"))], save=True
)
_OPENS = (types.TEXT_DOCUMENT_DID_OPEN, types.NOTEBOOK_DOCUMENT_DID_OPEN)
_CHANGES = (types.TEXT_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_CHANGE)
_CLOSES = (types.TEXT_DOCUMENT_DID_CLOSE, types.NOTEBOOK_DOCUMENT_DID_CLOSE)
_SAVES = (
    types.TEXT_DOCUMENT_DID_SAVE,
    types.NOTEBOOK_DOCUMENT_DID_SAVE,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
)
_WATCHED = "**/*.{sql,yml,yaml,toml,csv,md}"


class _CachedDiagnosis(NamedTuple):
    """What is known of a document: the number of changes before it was looked at."""

    changes: int
    diagnosis: Diagnosis


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls, which leaves a request without an answer whose params cannot be read."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message. Raises JsonRpcException for one that cannot be read: a request is answered with it."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class Server(LanguageServer):
    """Looks at one document at a time, and gives what was found in the newest version of it alone.

    A client that asks for diagnostics gets them when it asks, any other when a document has changed.
    """

    def __init__(self, documents: OpenDocuments) -> None:
        super().__init__("merge-runner", version(), protocol_cls=_Protocol, notebook_document_sync=_NOTEBOOKS)
        self.documents = documents
        self._diagnosis_lock: asyncio.Lock | None = None
        self._pushes: dict[str, asyncio.Task[None]] = {}
        self._changes = 0
        """Changes of documents and files: a client may open a text again with the version of another one."""
        self._diagnoses: dict[str, _CachedDiagnosis] = {}
        """By document what is known of it, after the newest number of changes."""
        self.of_workspace = WorkspaceDiagnostics(self.documents)

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics."""
        documents = self.client_capabilities.text_document
        return documents is not None and documents.diagnostic is not None

    def positions(self, document: TextDocument) -> Positions:
        """Return the places in a document, in the units of the client."""
        return Positions(client_documents.source(document), self.workspace.position_codec)

    async def diagnose(self, uri: str) -> tuple[TextDocument | None, int | None, Diagnosis]:
        """Return a document with the version that was the newest after it had been looked at, and what is known."""
        self._diagnosis_lock = self._diagnosis_lock or asyncio.Lock()
        while True:
            async with self._diagnosis_lock:
                document = client_documents.document(self.workspace, uri)
                if document is None:
                    return None, None, Diagnosis()
                seen, changes, cell = document.version, self._changes, client_documents.cell(self.workspace, uri)
                key = uri if cell is None else cell.notebook.uri
                cached = self._diagnoses.get(key)
                if cached is None or cached.changes != changes:
                    cached = await self._diagnose_newest(uri, changes)
                    # what is known of other documents is of an older state, and would keep the project of that
                    self._diagnoses = {
                        name: other for name, other in self._diagnoses.items() if other.changes == changes
                    }
                    self._diagnoses[key] = cached
                diagnosis = cached.diagnosis
            if client_documents.document(self.workspace, uri) is document and document.version == seen:
                return document, seen, _of_cell(diagnosis, cell)

    async def _diagnose_newest(self, uri: str, changes: int) -> _CachedDiagnosis:
        file, texts = client_documents.file_of(self.workspace, uri), client_documents.texts(self.workspace)
        if file is None:
            return _CachedDiagnosis(changes, Diagnosis())
        return _CachedDiagnosis(changes, await asyncio.to_thread(self._look, file, texts))

    async def find_document(self, uri: str) -> OpenedDocument | None:
        """Return a document for questions about it; None outside of any project, or in one that cannot be loaded."""
        path, document = to_fs_path(uri), client_documents.document(self.workspace, uri)
        if path is None or document is None or client_documents.cell(self.workspace, uri) is not None:
            return None
        if len(document.source) > LONGEST:
            return None
        location = self.documents.locate(real_path(path))
        if location is None:
            return None
        open_project, inner = location
        if open_project.project is None:
            await self.diagnose(uri)
        newest, document = open_project.project_for(inner), client_documents.document(self.workspace, uri)
        return (
            OpenedDocument(newest, inner, client_documents.source(document))
            if newest is not None and document is not None
            else None
        )

    async def plain(self, uri: str) -> Plain | None:
        """Return a document that is no file of a project; None for any other."""
        path, cell = to_fs_path(uri), client_documents.cell(self.workspace, uri)
        inner = self.documents.locate(real_path(path)) if path is not None and cell is None else None
        if inner is not None and inner[0].project is None:
            await self.diagnose(uri)
        if inner is not None and inner[0].is_own(inner[1]):
            return None
        document, texts = client_documents.document(self.workspace, uri), client_documents.texts(self.workspace)
        file = client_documents.file_of(self.workspace, uri)
        if document is None or file is None:
            return None

        async def diagnose_document() -> tuple[Positions, Diagnosis]:
            newest, _, diagnosis = await self.diagnose(uri)
            return self.positions(newest or document), diagnosis

        language = client_documents.language(self.workspace, uri)
        number = cell.number if cell is not None else None
        return Plain(
            file,
            number,
            self.positions(document),
            diagnose_document,
            language,
            lambda: self.documents.tables(file, texts),
            lambda: [merge for merge in self.documents.merges(file, texts[file]) if merge.place(0).cell == number],
            lambda place: client_documents.location(self.workspace, place),
        )

    async def diagnose_after_pause(self, uri: str) -> tuple[int | None, list[types.Diagnostic]]:
        """Return a version of a document and what is wrong in it, once no more changes come."""
        await asyncio.sleep(_PAUSE)
        document, seen, diagnosis = await self.diagnose(uri)
        if document is None:
            return None, []
        return seen, diagnostics(diagnosis.remarks, uri, self.positions(document))

    def _look(self, file: Path, texts: Mapping[Path, str]) -> Diagnosis:
        try:
            return self.documents.look(file, texts)
        except Exception as error:  # a bug of ours must not end the server: the next version may be fine
            message = f"internal error of merge-runner, please report it: {type(error).__name__}: {error}"
            return Diagnosis([Remark(Place(str(file), 1, 1), "internal", message, "error")])

    def report(
        self, items: Sequence[types.Diagnostic], previous_id: str | None
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        """Return what a client asked for that has got the result `previous_id` before."""
        result = result_id(items)
        if result == previous_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result)
        return types.RelatedFullDocumentDiagnosticReport(items, result_id=result)

    def changed(self, uri: str) -> None:
        """Look at a document that has another text, at all where each may depend on it, or at a notebook's cells."""
        self._changes += 1
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        file = client_documents.file_of(self.workspace, uri)
        if notebook is not None:
            uris = [cell.document for cell in notebook.cells]
        elif file is not None and self.documents.is_shared(file):
            uris = [document.uri for document in client_documents.documents(self.workspace)]
        else:
            uris = [uri]
        for document_uri in uris:
            self._look_at(document_uri)

    def _look_at(self, uri: str) -> None:
        if self.pulls:
            return
        if uri in self._pushes:
            self._pushes[uri].cancel()
        self._pushes[uri] = asyncio.ensure_future(self._push(uri))

    async def _push(self, uri: str) -> None:
        seen, items = await self.diagnose_after_pause(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items, seen))

    def closed(self, uris: Sequence[str]) -> None:
        """Forget documents: their files count again, and the client shows nothing of them."""
        for uri in uris:
            self._look_at(uri)
        self.saved()

    def saved(self) -> None:
        """Look at all open documents: they may depend on what is on disk now."""
        self.documents.check_files()
        self._changes += 1
        self._diagnoses.clear()
        self.of_workspace.changed()
        workspace = self.client_capabilities.workspace
        if not self.pulls:
            for document in client_documents.documents(self.workspace):
                self._look_at(document.uri)
        elif workspace is not None and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
            self.workspace_diagnostic_refresh(None)

    async def watch(self) -> None:
        """Have the client report changes of files that it has not made, where it can."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_WATCHED)])
        registration = types.Registration("watched", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await self.client_register_capability_async(types.RegistrationParams([registration]))


def _of_cell(diagnosis: Diagnosis, cell: client_documents.Cell | None) -> Diagnosis:
    """Return what is of a cell of a notebook; remarks on a file that are in a cell of it are at its beginning."""
    number = cell.number if cell is not None else None
    merges = [merge for merge in diagnosis.merges if merge.cell == number]
    if cell is None:
        return replace(diagnosis, remarks=[in_file(remark) for remark in diagnosis.remarks], merges=merges)
    places = (cell.number, None) if cell.number == 1 else (cell.number,)
    return replace(
        diagnosis, remarks=[remark for remark in diagnosis.remarks if remark.place.cell in places], merges=merges
    )


def make_server(documents: OpenDocuments) -> Server:
    """Return a server that has not started yet."""
    server = Server(documents)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, _params: types.InitializedParams) -> None:
        await ls.watch()

    async def changed(ls: Server, params: Any) -> None:
        ls.changed((getattr(params, "notebook_document", None) or params.text_document).uri)

    async def closed(ls: Server, params: Any) -> None:
        cells = getattr(params, "cell_text_documents", None)
        ls.closed([cell.uri for cell in cells] if cells is not None else [params.text_document.uri])

    async def saved(ls: Server, _params: Any) -> None:
        ls.saved()

    async def opened_one(ls: Server, params: Any) -> None:
        ls.documents.check_files()  # a client may watch none, and this one may have another text since
        await changed(ls, params)

    for kinds, take in ((_OPENS, opened_one), (_CHANGES, changed), (_CLOSES, closed), (_SAVES, saved)):
        for kind in kinds:
            server.feature(kind)(take)

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="merge-runner"),
    )
    async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        _, items = await ls.diagnose_after_pause(params.text_document.uri)
        return ls.report(items, params.previous_result_id)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(
        ls: Server, params: types.WorkspaceDiagnosticParams
    ) -> types.WorkspaceDiagnosticReport:
        return types.WorkspaceDiagnosticReport(await ls.of_workspace.report(ls.workspace, params.previous_result_ids))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite]),
    )
    async def actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        document, _, diagnosis = await ls.diagnose(uri)
        if document is None:
            return []
        fixes = code_actions(diagnosis.remarks, document, params.range, ls.positions(document))
        inner = await ls.find_document(uri)
        if inner is None:
            return fixes
        edits = ls.client_capabilities.workspace and ls.client_capabilities.workspace.workspace_edit
        return [*fixes, *await asyncio.to_thread(scaffold_actions, Request(ls, inner), params, edits or None)]

    add_features(server, server.find_document, server.plain)
    add_views(server, server.find_document, server.plain)
    return server
