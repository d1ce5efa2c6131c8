"""The documents that a client has open, as pygls keeps them: files, and the cells of notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument, Workspace

from merge_runner.lint.containers.ipynb import notebook_cell
from merge_runner.lsp.documents.open_documents import real_path
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.lsp.syntax.sql_in_code import Language
from merge_runner.project_file import Boundary, read_file
from merge_runner.text import Place, SourceText, as_source

_LANGUAGES = {"sql", "python", "scala"}
_SUFFIXES = {"sql": "sql", "py": "python", "scala": "scala"}
_HALVES = re.compile("[\ud800-\udfff]")


class Cell(NamedTuple):
    """A cell of a notebook: its 1-based `number`."""

    notebook: types.NotebookDocument
    number: int


def document(workspace: Workspace, uri: str) -> TextDocument | None:
    """Return an open document. pygls knows it by a URI without escapes, the client may escape it in several ways."""
    text_document: TextDocument | None = workspace.text_documents.get(unquote(uri))
    return text_document


def source(document: TextDocument) -> str:
    """Return the text of a document; half of a character of UTF-16, which an edit may leave, is one that is unknown."""
    return _HALVES.sub("\ufffd", document.source)


def documents(workspace: Workspace) -> list[TextDocument]:
    """Return all documents that are open, cells among them; each has the URI that the client gave."""
    return list(workspace.text_documents.values())


def cell(workspace: Workspace, uri: str) -> Cell | None:
    """Return the cell that a document is; None for a file."""
    notebook = workspace.get_notebook_document(cell_uri=uri)
    if notebook is None:
        return None
    numbers = (number for number, part in enumerate(notebook.cells, 1) if unquote(part.document) == unquote(uri))
    number = next(numbers, None)
    return Cell(notebook, number) if number is not None else None


def language(workspace: Workspace, uri: str) -> Language | None:
    """Return the language of a document, of a cell after its magic; None for another one."""
    text_document = document(workspace, uri)
    if text_document is None:
        return None
    if cell(workspace, uri) is not None:
        name = notebook_cell(SourceText("", source(text_document)), text_document.language_id or "").language
    else:
        name = _SUFFIXES.get(uri.rpartition(".")[2].lower(), "")
    return cast(Language, name) if name in _LANGUAGES else None


def file_of(workspace: Workspace, uri: str) -> Path | None:
    """Return the file of a document, for a cell that of its notebook; None for one that is in no file here."""
    own_cell = cell(workspace, uri)
    path = to_fs_path(uri if own_cell is None else own_cell.notebook.uri)
    return real_path(path) if path is not None else None


def location(workspace: Workspace, place: Place) -> types.Location | None:
    """Return a place whose path is a whole one, in the text that an editor has, else on disk; None for no such text."""
    path, uri = Path(place.path), from_fs_path(place.path) or ""
    if place.cell is not None:
        books = workspace.notebook_documents.values()
        cells = [part.document for book in books if file_of(workspace, book.uri) == path for part in book.cells]
        if not cells:
            return None
        uri = cells[place.cell - 1]
    text_document = document(workspace, uri)
    try:
        text = (
            source(text_document)
            if text_document is not None
            else as_source(read_file(path, Boundary(path.parent)).decode())
        )
    except (OSError, UnicodeDecodeError):
        return None
    return types.Location(uri, Positions(text, workspace.position_codec).range(place))


def texts(workspace: Workspace) -> dict[Path, str]:
    """Return the texts of the open files; that of a notebook is made of its cells."""
    by_file: dict[Path, str] = {}
    for text_document in documents(workspace):
        path = to_fs_path(text_document.uri)
        if path is not None and cell(workspace, text_document.uri) is None:
            by_file[real_path(path)] = source(text_document)
    for notebook in workspace.notebook_documents.values():
        path = to_fs_path(notebook.uri)
        if path is not None:
            by_file[real_path(path)] = _notebook_text(workspace, notebook)
    return by_file


def _notebook_text(workspace: Workspace, notebook: types.NotebookDocument) -> str:
    """Return the JSON of a notebook, as it would be saved."""
    cells = []
    for part in notebook.cells:
        text_document = document(workspace, part.document)
        is_code = part.kind == types.NotebookCellKind.Code and text_document is not None
        language = (
            text_document.language_id if text_document is not None and text_document.language_id in _LANGUAGES else None
        )
        cells.append(
            {
                "cell_type": "code" if is_code else "markdown",
                "source": source(text_document) if text_document is not None else "",
                "metadata": {"language_info": {"name": language}} if language is not None else {},
            }
        )
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
