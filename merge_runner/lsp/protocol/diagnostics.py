"""Remarks as the diagnostics of the protocol, in the units of columns that the client counts in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lsprotocol import types

from merge_runner.lsp.documents.remark import Remark
from merge_runner.lsp.protocol.positions import Positions

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def diagnostics(remarks: Iterable[Remark], uri: str, positions: Positions) -> list[types.Diagnostic]:
    """Return the remarks on the document `uri`."""
    return [_diagnostic(remark, uri, positions) for remark in remarks]


def result_id(items: Sequence[types.Diagnostic]) -> str:
    """Return a name of these diagnostics, which others do not have."""
    return hashlib.sha256(repr(items).encode(errors="replace")).hexdigest()[:20]


def in_file(remark: Remark) -> Remark:
    """Return a remark on a file; one on a cell of it is at its beginning."""
    return remark if remark.place.cell is None else replace(remark, place=remark.place.in_file, fix=None)


def _diagnostic(remark: Remark, uri: str, positions: Positions) -> types.Diagnostic:
    related: Sequence[types.DiagnosticRelatedInformation] = ()
    merge = remark.merge
    if merge is not None and merge.text_name == remark.place.text_name and merge.line != remark.place.line:
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
