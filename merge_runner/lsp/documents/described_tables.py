"""The tables that the SQL of a folder creates, and those of its project: what is known of columns outside of models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from merge_runner.graph.graph import ModelNode, Node
from merge_runner.lint.containers.contents import EmbeddedStatement
from merge_runner.lint.containers.registry import SUFFIXES, may_describe_tables
from merge_runner.lint.containers.tables import FileTables, FolderTables
from merge_runner.lint.run.contents_linter import ContentsReader
from merge_runner.lint.run.plain_file import PlainFile, read_plain, with_text
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.query_columns import NO_COLUMNS, Columns, QueryColumns, layout_columns
from merge_runner.lsp.syntax.relations import Subject
from merge_runner.lsp.syntax.statements import statements
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.project_file import Boundary
from merge_runner.pruning.query.source import KnownTable
from merge_runner.template.templates import Templates
from merge_runner.text import Place, Span

_MOST = 500
"""Files of a folder that are read for the tables that they create."""
_LARGEST = 500_000
"""Bytes of a file that is read for them."""


class DescribedTables(QueryColumns):
    """The tables of the files in a folder, as one of them names them, and those of the project that it is in.

    It is the file `path`. `statements_of` reads the statements of a file of the folder.
    """

    def __init__(
        self,
        path: str,
        files: Mapping[str, FileTables],
        statements_of: Callable[[str], Sequence[EmbeddedStatement]],
        project: ProjectIndex | None,
    ) -> None:
        self.project = project
        self._path = path
        self._files = files
        self._statements_of = statements_of
        self._tables = FolderTables(files)
        self._last = max(len(files[path].scopes) - 1, 0) if path in files else 0

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all tables."""
        names = {".".join(key) for tables in self._files.values() for key in tables.versions}
        return sorted({*names, *(self.project.table_names if self.project is not None else ())})

    def find(self, parts: tuple[str, ...]) -> KnownTable | None:
        """Return what is known of a table: what the folder says, else the project."""
        table = self._tables.find(self._path, self._last, parts)
        return table if table is not None or self.project is None else self.project.layouts.lookup(parts)

    def node(self, subject: Subject, here: ModelNode | None) -> Node | None:
        """Return the model, seed or source that a relation is, unless a file of the folder creates its table."""
        if self.project is None or self._is_of_folder(subject):
            return None
        return self.project.node(subject)

    def table_columns(self, subject: Subject, here: ModelNode | None) -> Columns:
        """Return the columns that CREATE TABLE and ALTER TABLE, the query of a view, or the project give a table."""
        if not self._is_of_folder(subject):
            return self.project.table_columns(subject, None) if self.project is not None else NO_COLUMNS
        table = self._tables.find(self._path, self._last, subject.parts)
        if table is None or table.query is None:
            return layout_columns(table.layout) if table is not None else NO_COLUMNS
        query = next(iter(statements(table.query).selects), None)
        return self.query_columns(query, here, 1) if query is not None else NO_COLUMNS

    def is_named(self, subject: Subject, qualifier: str, here: ModelNode | None) -> bool:
        """Whether a table without an alias has this name."""
        if subject.kind == "table":
            return subject.parts[-1].casefold() == qualifier.casefold()
        return self.project is not None and self.project.is_named(subject, qualifier, None)

    def _is_of_folder(self, subject: Subject) -> bool:
        return subject.kind == "table" and self._tables.find(self._path, self._last, subject.parts) is not None

    def place(self, parts: tuple[str, ...], column: str | None = None) -> Place | None:
        """Return where a file of the folder first names a table, or a column of it, as it creates or alters it."""
        key = self._tables.key(self._path, self._last, parts)
        for path in sorted(self._files, key=lambda file: file != self._path):
            indexes = {index for index, _ in self._files[path].versions.get(key, ())}
            for index, statement in enumerate(self._statements_of(path) if indexes else ()):
                span = _find_name(statement.rendered.text, parts[-1], column) if index in indexes else None
                if span is not None:
                    return statement.rendered.place(span.start, span.end)
        return None


def _find_name(text: str, table: str, column: str | None) -> Span | None:
    """Return where a statement names a table, or after it a column."""
    match = _word(table).search(text)
    if column is not None:
        match = _word(column).search(text, match.end() if match is not None else 0)
    return Span(*match.span()) if match is not None else None


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


class Folders:
    """Reads folders; what a file creates is kept with the state of the file."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._reader = ContentsReader(Templates(()), {}, RecordingEnv(env))
        self._tables_on_disk: dict[Path, tuple[tuple[int, int], FileTables]] = {}
        self._tables_of_open: dict[Path, tuple[str, FileTables]] = {}

    def tables(self, path: Path, texts: Mapping[Path, str], project: ProjectIndex | None) -> DescribedTables:
        """Return the tables of the folder of a file; `texts` are those of open documents, which count first."""

        def statements_of(name: str) -> Sequence[EmbeddedStatement]:
            file = Path(name)
            plain = PlainFile(name, file, None)
            return self._reader.whole(
                with_text(plain, texts[file]) if file in texts else read_plain(file, name, Boundary(file.parent))
            ).contents.statements

        paths = sorted(file for file in _files(path.parent) if file not in texts)[:_MOST]
        files = {str(file): self._of_file(file) for file in paths}
        files |= {str(file): self._of_text(file, text) for file, text in texts.items() if file.parent == path.parent}
        return DescribedTables(str(path), files, statements_of, project)

    def _of_file(self, path: Path) -> FileTables:
        try:
            status = path.stat()
        except OSError:
            return FileTables()
        state = (status.st_mtime_ns, status.st_size)
        cached = self._tables_on_disk.get(path)
        if cached is None or cached[0] != state:
            file = read_plain(path, str(path), Boundary(path.parent)) if status.st_size <= _LARGEST else None
            describes = file is not None and file.source is not None and may_describe_tables(file.source)
            tables = self._reader.whole(file).tables if file is not None and describes else FileTables()
            cached = self._tables_on_disk[path] = (state, tables)
        return cached[1]

    def _of_text(self, path: Path, text: str) -> FileTables:
        cached = self._tables_of_open.get(path)
        if cached is None or cached[0] != text:
            file = with_text(PlainFile(str(path), path, None), text)
            tables = self._reader.whole(file).tables if len(text) <= _LARGEST else FileTables()
            cached = self._tables_of_open[path] = (
                text,
                _with_half_written(tables, cached[1], text) if cached else tables,
            )
        return cached[1]


def _with_half_written(tables: FileTables, before: FileTables, text: str) -> FileTables:
    """Return the tables of a text, and those of an earlier state of it whose names it still has."""
    folded = text.casefold()
    half_written = {
        key: table_versions
        for key, table_versions in before.versions.items()
        if key not in tables.versions and key[-1] in folded
    }
    return replace(tables, versions={**half_written, **tables.versions})


def _files(folder: Path) -> list[Path]:
    try:
        return [file for file in folder.iterdir() if file.name.endswith(SUFFIXES) and file.is_file()]
    except OSError:
        return []
