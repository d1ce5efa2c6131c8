"""What can be written into the YAML of a model, as code actions of the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from merge_runner.lsp.answers.scaffolds import Scaffold, scaffolds
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.lsp.protocol.request import Request

_KIND = types.CodeActionKind.RefactorRewrite


def scaffold_actions(
    request: Request, params: types.CodeActionParams, able: types.WorkspaceEditClientCapabilities | None
) -> list[types.CodeAction]:
    """Return the actions at a range of a document; those that make a file where a client is `able` to."""
    only = params.context.only
    if only is not None and not any(_KIND.value == kind or _KIND.value.startswith(f"{kind}.") for kind in only):
        return []
    offset = request.positions.offset(params.range.start)
    makes = able is not None and bool(able.document_changes) and types.ResourceOperationKind.Create in _operations(able)
    return [
        types.CodeAction(scaffold.title, kind=_KIND, edit=_edit(request, scaffold))
        for scaffold in scaffolds(request.project, request.path, request.text, offset, request.newest)
        if makes or not scaffold.new
    ]


def _operations(able: types.WorkspaceEditClientCapabilities) -> Sequence[types.ResourceOperationKind]:
    return able.resource_operations or ()


def _edit(request: Request, scaffold: Scaffold) -> types.WorkspaceEdit:
    uri = request.uri(scaffold.path)
    positions = Positions("", request.codec) if scaffold.new else request.of(scaffold.path)
    edits = [_insert(positions, insertion.offset, insertion.text) for insertion in scaffold.insertions]
    if not scaffold.new:
        return types.WorkspaceEdit(changes={uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri)
    creation = types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True))
    return types.WorkspaceEdit(document_changes=[creation, types.TextDocumentEdit(document, list(edits))])


def _insert(positions: Positions, offset: int, text: str) -> types.TextEdit:
    at = positions.at(offset)
    return types.TextEdit(types.Range(at, at), text)
