"""What can be done about a remark: its fix, or a comment that hides it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from merge_runner.lsp.documents.remark import Remark
from merge_runner.lsp.protocol.diagnostics import diagnostics
from merge_runner.lsp.protocol.positions import Positions

_KINDS = {"safe": "", "unsafe": " (may change what the MERGE does)"}
_COMMENTS = {".sql": "--", ".py": "#", ".yml": "#", ".yaml": "#"}


def code_actions(
    remarks: Sequence[Remark], uri: str, asked: types.Range, positions: Positions
) -> list[types.CodeAction]:
    """Return the actions for the remarks on a document that a range touches; fixes first, the safe ones preferred."""
    touched = [remark for remark in remarks if _meet(positions.range(remark.place), asked)]
    return [*_fixes(touched, uri, positions), *_noqas(touched, uri, positions)]


def _fixes(remarks: Sequence[Remark], uri: str, positions: Positions) -> Iterator[types.CodeAction]:
    for remark in remarks:
        fix = remark.fix
        if fix is None or any(edit.place.path != remark.place.path for edit in fix.edits):
            continue
        edits = [types.TextEdit(positions.range(edit.place), edit.content) for edit in fix.edits]
        yield types.CodeAction(
            f"{remark.code}: {fix.message}{_KINDS[fix.applicability]}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=diagnostics([remark], uri, positions),
            is_preferred=fix.applicability == "safe",
            edit=types.WorkspaceEdit(changes={uri: edits}),
        )


def _noqas(remarks: Sequence[Remark], uri: str, positions: Positions) -> Iterator[types.CodeAction]:
    """Yield a comment at the end of the line of each finding, one for each code of a line."""
    mark = next((mark for suffix, mark in _COMMENTS.items() if uri.lower().endswith(suffix)), None)
    found = {(remark.place.line, remark.code): remark for remark in remarks if remark.suppressible}
    for (number, code), remark in found.items():
        line = positions.lines[min(number, len(positions.lines)) - 1]
        if (
            mark is None or mark in line or line.rstrip().endswith("\\")
        ):  # a comment is there: noqa is to be added by hand
            continue
        end = positions.position(number, len(line.rstrip()) + 1)
        comment = f"  {mark} noqa: {code} -- why it is meant"
        yield types.CodeAction(
            f"{code}: add a noqa comment with a reason",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=diagnostics([remark], uri, positions),
            edit=types.WorkspaceEdit(changes={uri: [types.TextEdit(types.Range(end, end), comment)]}),
        )


def _meet(one: types.Range, other: types.Range) -> bool:
    return (one.start.line, one.start.character) <= (other.end.line, other.end.character) and (
        other.start.line,
        other.start.character,
    ) <= (one.end.line, one.end.character)
