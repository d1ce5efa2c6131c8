"""An editor: a real client of the protocol, with a server process of its own, whose calls block."""

import asyncio
import sys
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PULLS = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
MAKES_FILES = types.WorkspaceEditClientCapabilities(
    document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
)


class Editor:
    """Opens and changes documents of files, and gets what the server says of them."""

    def __init__(self, *, pulls=True, encodings=None, makes_files=False, folders=(), server=("merge_runner", "lsp")):
        self._loop = asyncio.new_event_loop()
        self.client = LanguageClient("editor", "1")
        self.pushed = {}
        self._versions = {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def received(params):
            self.pushed[params.uri] = params

        general = types.GeneralClientCapabilities(position_encodings=encodings)
        workspace = types.WorkspaceClientCapabilities(workspace_edit=MAKES_FILES) if makes_files else None
        able = types.ClientCapabilities(workspace, PULLS if pulls else None, general=general)
        opened = [types.WorkspaceFolder(each.as_uri(), each.name) for each in folders]
        self.run(self.client.start_io(sys.executable, "-m", *server))
        self.server = self.run(self.client.initialize_async(types.InitializeParams(able, workspace_folders=opened)))
        self.client.initialized(types.InitializedParams())

    def run(self, coroutine):
        return self._loop.run_until_complete(asyncio.wait_for(coroutine, 60))

    def wait(self, seconds):
        self.run(asyncio.sleep(seconds))

    def open(self, path, text):
        """Open a document, or change it where it is open, to this text."""
        uri = path.as_uri()
        version = self._versions[uri] = self._versions.get(uri, 0) + 1
        if version == 1:
            item = types.TextDocumentItem(uri, "sql", version, text)
            self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        else:
            changed = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
            whole = types.TextDocumentContentChangeWholeDocument(text)
            self.client.text_document_did_change(types.DidChangeTextDocumentParams(changed, [whole]))

    def open_notebook(self, path, *cells):
        """Open a notebook with cells of (language, text), and return the URIs of these."""
        uris = [
            f"vscode-notebook-cell:{path.as_uri().removeprefix('file:')}#cell{number}" for number in range(len(cells))
        ]
        listed = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in uris]
        texts = [types.TextDocumentItem(uri, *cell[:1], 1, cell[1]) for uri, cell in zip(uris, cells, strict=True)]
        notebook = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, listed)
        self.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, texts))
        return uris

    def change_notebook(self, path, version, change):
        document = types.VersionedNotebookDocumentIdentifier(version, path.as_uri())
        self.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(document, change))

    def close_notebook(self, path, uris):
        documents = [types.TextDocumentIdentifier(uri) for uri in uris]
        notebook = types.NotebookDocumentIdentifier(path.as_uri())
        self.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(notebook, documents))

    def cell_diagnostics(self, uri):
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        return self.run(self.client.text_document_diagnostic_async(params)).items

    def close(self, path):
        uri = path.as_uri()
        del self._versions[uri]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def saved(self, path):
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))

    def report(self, path, known=None):
        """What the server says when it is asked for the diagnostics of a document."""
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(path.as_uri()), previous_result_id=known)
        return self.run(self.client.text_document_diagnostic_async(params))

    def diagnostics(self, path):
        return self.report(path).items

    def workspace(self, known=()):
        """A question for the diagnostics of all files, which may stay open; `known` are results that it has had."""
        results = [types.PreviousResultId(each.uri, each.result_id) for each in known if each.result_id]
        asked = self.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(results))
        return self._loop.create_task(asyncio.wait_for(asked, 60))

    def actions(self, path, line):
        """The code actions for a line, from 1."""
        return self.actions_at(path.as_uri(), line)

    def actions_at(self, uri, line):
        """The code actions for a line of a document or cell, from 1."""
        place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 1000))
        document = types.TextDocumentIdentifier(uri)
        params = types.CodeActionParams(document, place, types.CodeActionContext([]))
        return self.run(self.client.text_document_code_action_async(params))

    def wait_for_push(self, path, version):
        return self.wait_for_cell(path.as_uri(), version)

    def wait_for_cell(self, uri, version=1):
        async def wait():
            while uri not in self.pushed or self.pushed[uri].version != version:
                await asyncio.sleep(0.01)
            return self.pushed[uri].diagnostics

        return self.run(wait())

    @property
    def _process(self):
        return self.client._server  # the client has no other name for it

    def processes(self):
        """The ids of the processes that the server has started."""
        tasks = Path(f"/proc/{self._process.pid}/task")
        return [int(each) for task in tasks.iterdir() for each in (task / "children").read_text().split()]

    def signal(self, number):
        self._process.send_signal(number)

    def kill(self, signal):
        """End the server by a signal."""
        self._process.send_signal(signal)
        self.run(self._process.wait())
        self.wait(0.05)
        self._loop.close()

    def stop(self):
        self.run(self.client.shutdown_async(None))
        self.client.exit(None)
        self.run(self.client.stop())
        self._loop.close()


def short(diagnostics):
    """Diagnostics as `CODE line:column`, in the order of their places."""
    found = [(each.range.start.line + 1, each.range.start.character + 1, each.code) for each in diagnostics]
    return [f"{code} {line}:{column}" for line, column, code in sorted(found)]
