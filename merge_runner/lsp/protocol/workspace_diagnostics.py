"""The findings in all files of the projects that a client has open, for clients that ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import Workspace

from merge_runner.errors import Problems
from merge_runner.lsp.documents.open_documents import OpenDocuments, real_path
from merge_runner.lsp.documents.remark import Remark
from merge_runner.lsp.documents.whole_project import project_remarks
from merge_runner.lsp.protocol import client_documents
from merge_runner.lsp.protocol.diagnostics import diagnostics, in_file, result_id
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project_file import Boundary

_PAUSE = 0.2
"""Seconds without another change on disk after which projects are looked at again."""
Report = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport


class WorkspaceDiagnostics:
    """Looks at whole projects as they are on disk; a client asks for the diagnostics of open documents one by one.

    A question for what the client knows already waits until a file has changed, as the protocol proposes.
    """

    def __init__(self, documents: OpenDocuments) -> None:
        self._documents = documents
        self._state = 0
        """A number for the state of the files on disk."""
        self._looked_at = 0
        """The state that was looked at last; at first the one that the server has started with."""
        self._last_report: tuple[int, frozenset[tuple[str, str]]] | None = None
        """The state of which a client has been given everything, and the results that it knows then."""
        self._news = asyncio.Event()

    def changed(self) -> None:
        """Look again: a file has changed on disk."""
        self._state += 1
        self._news.set()

    async def report(self, workspace: Workspace, previous_results: Sequence[types.PreviousResultId]) -> list[Report]:
        """Return what is wrong in each file that is not open; those of `previous_results` may have nothing now."""
        results = frozenset((result.uri, result.value) for result in previous_results)
        while self._last_report == (self._state, results):
            self._news.clear()
            await self._news.wait()
        while self._looked_at != self._state:
            self._looked_at = self._state
            await asyncio.sleep(_PAUSE)

        # The state before projects are looked at: of a change meanwhile, the next question does not wait.
        state = self._looked_at
        remarks: dict[Path, list[Remark]] = {}
        for root in self._roots(workspace):
            remarks |= await project_remarks(root, self._documents.env)
        before = {result.uri: result.value for result in previous_results}
        reports = list(self._reports(workspace, remarks, before))
        self._last_report = (
            state,
            frozenset((report.uri, report.result_id) for report in reports if report.result_id is not None),
        )
        return reports

    def _roots(self, workspace: Workspace) -> list[Path]:
        """The projects of the client's folders and of the documents that are open."""
        folders = [to_fs_path(folder.uri) for folder in workspace.folders.values()]
        files = [
            client_documents.file_of(workspace, document.uri) for document in client_documents.documents(workspace)
        ]
        inner = [real_path(folder) / "pyproject.toml" for folder in folders if folder is not None]
        located = [self._documents.locate(file) for file in [*inner, *files] if file is not None]
        return sorted({location[0].root for location in located if location is not None})

    def _reports(
        self, workspace: Workspace, remarks: dict[Path, list[Remark]], before: dict[str, str]
    ) -> Iterator[Report]:
        reported = set()
        for file, in_path in remarks.items():
            uri = from_fs_path(str(file)) or ""
            reported.add(unquote(uri))
            if client_documents.document(workspace, uri) is not None:
                continue
            source = read_text(file, file.name, Problems(), Boundary(file.parent))
            positions = Positions(source.text if source is not None else "", workspace.position_codec)
            items = diagnostics([in_file(remark) for remark in in_path], uri, positions)
            result = result_id(items)
            if before.get(uri) == result:
                yield types.WorkspaceUnchangedDocumentDiagnosticReport(uri, result)
            else:
                yield types.WorkspaceFullDocumentDiagnosticReport(uri, items, result_id=result)
        for uri in before:
            if unquote(uri) not in reported and client_documents.document(workspace, uri) is None:
                yield types.WorkspaceFullDocumentDiagnosticReport(uri, [])
