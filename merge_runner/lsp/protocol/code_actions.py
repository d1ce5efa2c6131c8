"""What can be done about a remark: its fix, or a comment that hides it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence

from lsprotocol import types
from pygls.workspace import TextDocument

from merge_runner.lint.containers.ipynb import notebook_cell
from merge_runner.lint.containers.scala_code import scala_tokens
from merge_runner.lsp.documents.remark import Remark
from merge_runner.lsp.protocol.diagnostics import diagnostics
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.text import Place, SourceText

_KINDS = {"safe": "", "unsafe": " (may change what the MERGE does)"}
_COMMENTS = {".sql": "--", ".py": "#", ".scala": "//", ".yml": "#", ".yaml": "#"}
_CELLS = {"sql": "--", "python": "#", "scala": "//"}
"""The comments of a notebook's cell by its language."""


def code_actions(
    remarks: Sequence[Remark], document: TextDocument, selection: types.Range, positions: Positions
) -> list[types.CodeAction]:
    """Return the actions for the remarks on a document that a range touches; fixes first, the safe ones preferred."""
    at_range = [remark for remark in remarks if _meet(positions.range(remark.place), selection)]
    return [*_fixes(at_range, document.uri, positions), *_noqas(at_range, document, positions)]


def _fixes(remarks: Sequence[Remark], uri: str, positions: Positions) -> Iterator[types.CodeAction]:
    for remark in remarks:
        fix = remark.fix
        if fix is None or any(edit.place.text_name != remark.place.text_name for edit in fix.edits):
            continue
        edits = [types.TextEdit(positions.range(edit.place), edit.content) for edit in fix.edits]
        yield types.CodeAction(
            f"{remark.code}: {fix.message}{_KINDS[fix.applicability]}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=diagnostics([remark], uri, positions),
            is_preferred=fix.applicability == "safe",
            edit=types.WorkspaceEdit(changes={uri: edits}),
        )


def _noqas(remarks: Sequence[Remark], document: TextDocument, positions: Positions) -> Iterator[types.CodeAction]:
    """Yield a comment at the end of the line of each finding, one for each code of a line."""
    by_line = {(remark.place.line, remark.code): remark for remark in remarks if remark.suppressible}
    for (number, code), remark in by_line.items():
        mark = _mark(document, positions.text, remark.place)
        line = positions.lines[min(number, len(positions.lines)) - 1]
        if mark is None or mark in line or line.rstrip().endswith("\\"):
            continue  # a comment is there: noqa is to be added by hand
        end = positions.position(number, len(line.rstrip()) + 1)
        comment = f"  {mark} noqa: {code} -- why it is meant"
        yield types.CodeAction(
            f"{code}: add a noqa comment with a reason",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=diagnostics([remark], document.uri, positions),
            edit=types.WorkspaceEdit(changes={document.uri: [types.TextEdit(types.Range(end, end), comment)]}),
        )


def _mark(document: TextDocument, text: str, place: Place) -> str | None:
    """Return what begins a comment at the end of the line of a place; None where there can be none."""
    if place.cell is not None:
        cell = notebook_cell(SourceText(place.path, text), document.language_id or "")
        in_line = any(sql.text and sql.place(0).line == place.line for sql in cell.sql)  # `%sql …` in a cell of Python
        mark = "--" if in_line else _CELLS.get(cell.language)
    else:
        mark = next((mark for suffix, mark in _COMMENTS.items() if document.uri.lower().endswith(suffix)), None)
    in_code = {"#": _goes_on_in_python, "//": _goes_on_in_scala}.get(mark or "")
    if in_code is None or place.path.endswith((".yml", ".yaml")):
        return mark
    return "--" if in_code(text, place.line) else mark


def _goes_on_in_scala(text: str, line: int) -> bool:
    """Whether a string of Scala begins in a line, or before it, and ends after it: what is written there is SQL."""
    source = SourceText("", text)
    end = source.offset(line, len(text.split("\n")[line - 1]) + 1)
    return any(token.kind == "string" and token.start < end < token.end for token in scala_tokens(text))


def _goes_on_in_python(text: str, line: int) -> bool:
    """Whether a string of Python begins in a line, or before it, and ends after it: what is written there is SQL."""
    begins: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            name = tokenize.tok_name[token.type]
            if name == "FSTRING_START":  # from Python 3.12 on, an f-string is several tokens
                begins.append(token.start[0])
            elif name in ("STRING", "FSTRING_END"):
                start = token.start[0] if name == "STRING" else begins.pop()
                if start <= line < token.end[0]:
                    return True
    except (tokenize.TokenError, SyntaxError):  # what follows cannot be read
        pass
    return False


def _meet(place: types.Range, other: types.Range) -> bool:
    return (place.start.line, place.start.character) <= (other.end.line, other.end.character) and (
        other.start.line,
        other.start.character,
    ) <= (place.end.line, place.end.character)
