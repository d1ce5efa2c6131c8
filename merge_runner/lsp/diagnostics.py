"""Remarks as the diagnostics of the protocol, in the units of columns that the client counts in."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol.types import CodeDescription, Diagnostic, DiagnosticSeverity, Position, Range
from pygls.workspace import PositionCodec

from merge_runner.lsp.findings import Remark
from merge_runner.text import Place, as_source

_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}


def diagnostics(remarks: Iterable[Remark], text: str, codec: PositionCodec) -> list[Diagnostic]:
    """Return the remarks on a document with this `text`, at the places that the client knows."""
    lines = as_source(text).split("\n")
    return [
        Diagnostic(
            _range(remark.place, lines, codec),
            remark.message,
            severity=_SEVERITIES[remark.severity],
            code=remark.code,
            code_description=None if remark.url is None else CodeDescription(remark.url),
            source="merge-runner",
        )
        for remark in remarks
    ]


def _range(place: Place, lines: list[str], codec: PositionCodec) -> Range:
    """The range of a place; one whose end is not known goes to the end of its line."""
    start = _position(place.line, place.column, lines, codec)
    if place.end_line is None or place.end_column is None:
        return Range(start, _position(place.line, len(lines[start.line]) + 1, lines, codec))
    return Range(start, _position(place.end_line, place.end_column, lines, codec))


def _position(line: int, column: int, lines: list[str], codec: PositionCodec) -> Position:
    line = min(line, len(lines))
    return Position(line - 1, codec.client_num_units(lines[line - 1][: column - 1]))
