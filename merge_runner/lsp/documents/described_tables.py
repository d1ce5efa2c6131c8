"""The tables that the SQL of a folder creates: what is known of columns outside of projects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from merge_runner.graph.graph import ModelNode
from merge_runner.lint.containers.registry import SUFFIXES, may_describe_tables
from merge_runner.lint.containers.tables import FileTables, FolderTables
from merge_runner.lint.sources.contents_lint import ContentsReader
from merge_runner.lint.sources.sql_file import PlainFile, read_plain, with_text
from merge_runner.lsp.documents.query_columns import NO_COLUMNS, Columns, KnownColumn, QueryColumns
from merge_runner.lsp.syntax.relations import Subject
from merge_runner.lsp.syntax.statements import statements
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.template.templates import Templates

_MOST = 500
"""Files of a folder that are read for the tables that they create."""
_LARGEST = 500_000
"""Bytes of a file that is read for them."""


class DescribedTables(QueryColumns):
    """The tables of the files in a folder, as one of them names them; it is the file `path`."""

    def __init__(self, path: str, files: Mapping[str, FileTables]) -> None:
        self._path = path
        self._tables = FolderTables(files)
        self._last = max(len(files[path].scopes) - 1, 0) if path in files else 0
        self.names = sorted({".".join(key) for tables in files.values() for key in tables.versions})

    def table_columns(self, subject: Subject, here: ModelNode | None) -> Columns:
        """Return the columns that CREATE TABLE and ALTER TABLE, or the query of a view, give a table."""
        found = self._tables.find(self._path, self._last, subject.parts) if subject.kind == "table" else None
        if found is None:
            return NO_COLUMNS
        if found.query is not None:
            query = next(iter(statements(found.query).selects), None)
            return self.query_columns(query, here, 1) if query is not None else NO_COLUMNS
        named = found.layout.columns or ()
        columns = (KnownColumn(each.name, str(each.data_type or ""), "", each.nullable) for each in named)
        return Columns(tuple(columns), found.layout.complete)

    def is_named(self, subject: Subject, qualifier: str, here: ModelNode | None) -> bool:
        """Whether a table without an alias has this name."""
        return subject.kind == "table" and subject.parts[-1].casefold() == qualifier.casefold()


class Folders:
    """Reads folders; what a file creates is kept with the state of the file."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._reader = ContentsReader(Templates(()), {}, RecordingEnv(env))
        self._saved: dict[Path, tuple[tuple[int, int], FileTables]] = {}
        self._opened: dict[Path, tuple[str, FileTables]] = {}

    def tables(self, path: Path, texts: Mapping[Path, str]) -> DescribedTables:
        """Return the tables of the folder of a file; `texts` are those of open documents, which count first."""
        listed = sorted(each for each in _files(path.parent) if each not in texts)[:_MOST]
        files = {str(each): self._of_file(each) for each in listed}
        files |= {str(each): self._of_text(each, text) for each, text in texts.items() if each.parent == path.parent}
        return DescribedTables(str(path), files)

    def _of_file(self, path: Path) -> FileTables:
        try:
            status = path.stat()
        except OSError:
            return FileTables()
        state = (status.st_mtime_ns, status.st_size)
        known = self._saved.get(path)
        if known is None or known[0] != state:
            file = read_plain(path, str(path)) if status.st_size <= _LARGEST else None
            describes = file is not None and file.source is not None and may_describe_tables(file.source)
            tables = self._reader.whole(file).tables if file is not None and describes else FileTables()
            known = self._saved[path] = (state, tables)
        return known[1]

    def _of_text(self, path: Path, text: str) -> FileTables:
        known = self._opened.get(path)
        if known is None or known[0] != text:
            file = with_text(PlainFile(str(path), path, None), text)
            tables = self._reader.whole(file).tables if len(text) <= _LARGEST else FileTables()
            known = self._opened[path] = (text, _with_half_written(tables, known[1], text) if known else tables)
        return known[1]


def _with_half_written(tables: FileTables, before: FileTables, text: str) -> FileTables:
    """Return the tables of a text, and those of an earlier state of it whose names it still has."""
    folded = text.casefold()
    gone = {key: each for key, each in before.versions.items() if key not in tables.versions and key[-1] in folded}
    return replace(tables, versions={**gone, **tables.versions})


def _files(folder: Path) -> list[Path]:
    try:
        return [each for each in folder.iterdir() if each.name.endswith(SUFFIXES) and each.is_file()]
    except OSError:
        return []
