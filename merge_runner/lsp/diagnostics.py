"""Remarks as the diagnostics of the protocol, in the units of columns that the client counts in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from merge_runner.lsp.remark import Remark
from merge_runner.text import Place, as_source

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


class Positions:
    """Places in a document as the client counts them: lines from 0, columns in its units."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.lines = as_source(text).split("\n")
        self._codec = codec

    def range(self, place: Place) -> types.Range:
        """Return the range of a place; one whose end is not known goes to the end of its line."""
        start = self.position(place.line, place.column)
        if place.end_line is None or place.end_column is None:
            return types.Range(start, self.position(place.line, len(self.lines[start.line]) + 1))
        return types.Range(start, self.position(place.end_line, place.end_column))

    def position(self, line: int, column: int) -> types.Position:
        """Return the position of a 1-based line and column; one after the text is its end."""
        line = min(line, len(self.lines))
        return types.Position(line - 1, self._codec.client_num_units(self.lines[line - 1][: column - 1]))

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position of the client, in characters of the text with `\\n` as newlines."""
        if position.line >= len(self.lines):
            return sum(len(line) + 1 for line in self.lines) - 1
        at = self._codec.position_from_client_units([f"{line}\n" for line in self.lines], position)
        return sum(len(line) + 1 for line in self.lines[: at.line]) + at.character


def diagnostics(remarks: Iterable[Remark], uri: str, positions: Positions) -> list[types.Diagnostic]:
    """Return the remarks on the document `uri`."""
    return [_diagnostic(remark, uri, positions) for remark in remarks]


def _diagnostic(remark: Remark, uri: str, positions: Positions) -> types.Diagnostic:
    related: Sequence[types.DiagnosticRelatedInformation] = ()
    merge = remark.merge
    if merge is not None and merge.path == remark.place.path and merge.line != remark.place.line:
        location = types.Location(uri, positions.range(merge))
        related = [types.DiagnosticRelatedInformation(location, "the MERGE that this is about")]
    return types.Diagnostic(
        positions.range(remark.place),
        remark.message,
        severity=_SEVERITIES[remark.severity],
        code=remark.code,
        code_description=None if remark.url is None else types.CodeDescription(remark.url),
        source="merge-runner",
        related_information=related or None,
    )
