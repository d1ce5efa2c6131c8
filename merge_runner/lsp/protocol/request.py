"""A document of a project of which an editor asks something, and the places in its files as the protocol has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from merge_runner.lsp.documents.remark import Diagnosis
from merge_runner.lsp.protocol import client_documents
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.lsp.syntax.sql_in_code import Language
from merge_runner.project_file import Boundary, read_file
from merge_runner.text import Place, as_source

if TYPE_CHECKING:
    from merge_runner.lsp.documents.described_tables import DescribedTables
    from merge_runner.lsp.documents.project_index import ProjectIndex
    from merge_runner.template.rendered_text import RenderedText


class OpenedDocument(NamedTuple):
    """A document of a project: the last state of the project that could be loaded, its path in it, its newest text."""

    project: ProjectIndex
    path: str
    text: str


Find = Callable[[str], Awaitable[OpenedDocument | None]]
"""Finds the document of a URI; None for one that is of no project, or of one that cannot be loaded."""


@dataclass(frozen=True)
class Plain:
    """A document that is no file of a project, or the `cell` of a notebook, and its language.

    `diagnose` looks at its newest text: longer than a key may take. `tables` are those of its folder, `merges` the
    MERGEs in it as Spark gets them, `location` finds a place whose path is a whole one.
    """

    file: Path
    cell: int | None
    positions: Positions
    diagnose: Callable[[], Awaitable[tuple[Positions, Diagnosis]]]
    language: Language | None
    tables: Callable[[], DescribedTables]
    merges: Callable[[], Sequence[RenderedText]]
    location: Callable[[Place], types.Location | None]


FindPlain = Callable[[str], Awaitable[Plain | None]]
"""Finds the document of a URI that is no file of a project."""


class Request:
    """A document of which something is asked."""

    def __init__(self, server: LanguageServer, document: OpenedDocument) -> None:
        self.project, self.path, _ = document
        self.codec = server.workspace.position_codec
        self._workspace = server.workspace
        self.positions = Positions(document.text, self.codec)
        self.text = self.positions.text

    def at(self, position: types.Position) -> tuple[ProjectIndex, str, str, int]:
        """Return the arguments of the features that are asked at a cursor."""
        return self.project, self.path, self.text, self.positions.offset(position)

    def uri(self, path: str) -> str:
        """Return the URI of a file of the project."""
        return from_fs_path(str(self.project.file(path))) or ""

    def location(self, place: Place) -> types.Location:
        """Return a place in a file of the project."""
        return types.Location(self.uri(place.path), self.of(place.path).range(place))

    def of(self, path: str) -> Positions:
        """Return the positions of a file of the project, as an editor has it or as it is on disk."""
        if path == self.path:
            return self.positions
        open_document = client_documents.document(self._workspace, self.uri(path))
        return Positions(
            client_documents.source(open_document) if open_document is not None else self.project.text(path), self.codec
        )

    def newest(self, path: str) -> str | None:
        """Return the text of a file of the project as an editor has it, else as it is on disk; None for no file.

        Raises OSError or UnicodeDecodeError for a file that cannot be read.
        """
        open_document = client_documents.document(self._workspace, self.uri(path))
        file = self.project.prepared.files.root / path
        if open_document is not None:
            return client_documents.source(open_document)
        root = self.project.prepared.files.root
        return as_source(read_file(file, Boundary(root)).decode("utf-8")) if file.exists() else None
