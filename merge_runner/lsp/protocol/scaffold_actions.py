"""What can be written into the YAML of a model, as code actions of the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from merge_runner.lsp.answers.scaffolds import Scaffold, scaffolds
from merge_runner.lsp.protocol.asked import Request
from merge_runner.lsp.protocol.positions import Positions

_KIND = types.CodeActionKind.RefactorRewrite


def scaffold_actions(
    asked: Request, params: types.CodeActionParams, able: types.WorkspaceEditClientCapabilities | None
) -> list[types.CodeAction]:
    """Return the actions at a range of a document; those that make a file where a client is `able` to."""
    only = params.context.only
    if only is not None and not any(_KIND.value == each or _KIND.value.startswith(f"{each}.") for each in only):
        return []
    offset = asked.positions.offset(params.range.start)
    makes = able is not None and bool(able.document_changes) and types.ResourceOperationKind.Create in _operations(able)
    return [
        types.CodeAction(each.title, kind=_KIND, edit=_edit(asked, each))
        for each in scaffolds(asked.project, asked.path, asked.text, offset, asked.newest)
        if makes or not each.new
    ]


def _operations(able: types.WorkspaceEditClientCapabilities) -> Sequence[types.ResourceOperationKind]:
    return able.resource_operations or ()


def _edit(asked: Request, scaffold: Scaffold) -> types.WorkspaceEdit:
    uri = asked.uri(scaffold.path)
    positions = Positions("", asked.codec) if scaffold.new else asked.of(scaffold.path)
    edits = [_insert(positions, each.offset, each.text) for each in scaffold.insertions]
    if not scaffold.new:
        return types.WorkspaceEdit(changes={uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri)
    made = types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True))
    return types.WorkspaceEdit(document_changes=[made, types.TextDocumentEdit(document, list(edits))])


def _insert(positions: Positions, offset: int, text: str) -> types.TextEdit:
    at = positions.at(offset)
    return types.TextEdit(types.Range(at, at), text)
