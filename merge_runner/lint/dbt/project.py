"""A dbt project as its target folder shows it: the tables that its statements name, and the MERGE of each model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.lint.dbt.manifest import DbtNode, ManifestReader
from merge_runner.lint.dbt.merge import Unknown, next_merge
from merge_runner.lint.dbt.query import rendered_query
from merge_runner.merge.find import holds_merge
from merge_runner.merge.read_query import read_query
from merge_runner.plan.layout.layout_file import Namespace, TableKey
from merge_runner.project_file import Boundary, read_file
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.query.query_facts import VisibleQueries
from merge_runner.pruning.query.source import KnownTable, Lookup
from merge_runner.text import Place, as_source

MANIFEST = "manifest.json"

_NAMES = Namespace()
_BUILT_IN = ("dbt", "dbt_spark")
"""Packages whose macros are dbt's own."""
_ASKS_THE_WAREHOUSE = re.compile(
    r"\b(?:is_incremental|should_full_refresh|load_relation|load_cached_relation|run_query|statement|flags"
    r"|invocation_args_dict|adapter\s*\.\s*(?!dispatch\b))"
)
"""By what a template may render differently once the table exists."""


@dataclass(frozen=True)
class DbtProject:
    """A dbt project. `target` is its target folder, `files` are the models and snapshots by their paths below run/."""

    target: Path
    nodes: Mapping[TableKey, DbtNode] = field(default_factory=dict)
    files: Mapping[str, DbtNode] = field(default_factory=dict)
    adapter: str | None = None
    macros: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    by_id: Mapping[str, DbtNode] = field(default_factory=dict, repr=False)

    @cached_property
    def boundary(self) -> Boundary:
        """Where the files of the project may be."""
        return Boundary(self.target.parent)

    def node(self, file: Path) -> DbtNode | None:
        """Return the model or snapshot that a file of target/run was made for."""
        try:
            path = file.absolute().relative_to((self.target / "run").absolute()).as_posix()
        except ValueError:
            return None
        # Several snapshots of one file have a folder of its name.
        return self.files.get(path) or self.files.get(path.rpartition("/")[0])

    @cached_property
    def linted_nodes(self) -> tuple[DbtNode, ...]:
        """The nodes that may run a MERGE: models, snapshots, and seeds with hooks."""
        seeds = (node for node in self.by_id.values() if node.kind == "seed")
        hooked = (node for node in seeds if any(node.config.get(key) for key in ("pre-hook", "post-hook")))
        return (*self.files.values(), *hooked)

    def lookup(self, own: DbtNode | None = None, new_rows: str | None = None) -> Lookup:
        """Return what finds the tables in a statement: the project's, and dbt's temporary view of the rows of `own`.

        `new_rows` is the query of that view; None where it is not known.
        """

        def find(parts: tuple[str, ...]) -> KnownTable | None:
            if own is not None and len(parts) == 1 and _is_new_rows(parts[0], own):
                return KnownTable(TableLayout(), new_rows) if new_rows is not None else None
            node = self.nodes.get(_NAMES.key(parts))
            if node is None:
                return None
            if node is own and new_rows is not None:
                return KnownTable(self._layout_by_query(node, new_rows))
            return KnownTable(node.layout, self._view(node) if node.materialized == "view" else None)

        return find

    def last_rows(self, node: DbtNode) -> str | None:
        """Return the query of the temporary view that dbt merged last: what it compiled for that run."""
        if not _has_view(node) or self.last_merge(node) is None or node.file is None:
            return None
        return self._read_text(self._compiled_file(node.file)) or node.compiled_code or None

    def next_rows(self, node: DbtNode, file: Path | None = None) -> str | Unknown:
        """Return the query of the temporary view that dbt will merge next, or why it is not known.

        That is the model's query as an incremental run has it: the compiled one, or the template as lint renders it.
        What was compiled before the table existed may be another one where the template can see the difference, and so
        may what was compiled before the model's `file` was written.
        """
        if not _has_view(node):
            return Unknown("not a SQL model")
        query: str | Unknown | None = None
        if self.compile_suffices(node):
            compiled = self._compiled_file(node.file) if node.file is not None else None
            fresh = compiled is not None and (file is None or not _is_newer(file, compiled))
            query = node.compiled_code or (self._read_text(compiled) if compiled is not None and fresh else None)
        query = query or self._render(node)
        if isinstance(query, str) and (view := self._unknown_view(node)) is not None:
            return Unknown(f"the query of the view {view} is not known")
        return query

    def compile_suffices(self, node: DbtNode) -> bool:
        """Return whether the query that dbt compiles now is that of an incremental run."""
        return not self._branches(node) or self.last_merge(node) is not None

    def last_merge(self, node: DbtNode) -> str | None:
        """Return the MERGE that dbt ran last for a node; None where its last statement was another one, or none."""
        if node.file is None:
            return None
        if node.file not in self._merges:
            text = self._read_text(self.target / "run" / node.file)
            self._merges[node.file] = text if text is not None and holds_merge(text) else None
        return self._merges[node.file]

    def next_merge(self, node: DbtNode) -> str | Unknown:
        """Return the MERGE that dbt will run for a model once its table exists, or why it is not known."""
        return next_merge(node, self.adapter, self._overriding_macros, lambda: self._columns(node))

    def _columns(self, node: DbtNode) -> tuple[str, ...] | None:
        """The columns of a model's table, which dbt creates from its query; None where they are not all known."""
        if node.layout.complete:
            return tuple(column.name for column in node.layout.columns or ())
        rows = self.next_rows(node)
        query = rows if isinstance(rows, str) else self._read_compiled(node)
        return self._names(query) if query else None

    def _names(self, query: str) -> tuple[str, ...] | None:
        """The names of a query's columns; None where they are not all known."""
        facts = VisibleQueries(self.lookup()).facts(read_query(query).expression)
        return tuple(column.name for column in facts.known_columns) if facts.names_known else None

    def _layout_by_query(self, node: DbtNode, query: str) -> TableLayout:
        """The layout of a model's table, which dbt creates from the query of the model.

        INSERT * is refused where the table has a column that the query has no longer, except where the schema evolves.
        """
        names = None if node.layout.complete else self._names(query)
        if names is None:
            return node.layout
        columns = tuple(node.layout.column(name) or TableColumn(name) for name in names)
        return replace(node.layout, columns=columns, complete=not _keeps_columns(node))

    @cached_property
    def _overriding_macros(self) -> frozenset[str]:
        """The names of macros that are not dbt's own."""
        return frozenset(
            str(macro.get("name")) for macro in self.macros.values() if macro.get("package_name") not in _BUILT_IN
        )

    def _render(self, node: DbtNode) -> str | Unknown:
        """The query of a node, rendered from its template."""
        if node.key not in self._renderings:
            incremental = node.materialized == "incremental"
            query = rendered_query(node, self.by_id, self._overriding_macros, incremental=incremental)
            self._renderings[node.key] = query
        return self._renderings[node.key]

    def _view(self, node: DbtNode) -> str | None:
        """The query of a view, None where it is not known: compiled by the manifest's command, else rendered."""
        query = node.compiled_code or self._render(node)
        return query if isinstance(query, str) else self._read_compiled(node)

    def _unknown_view(self, node: DbtNode) -> str | None:
        """The name of a view whose query is not known, of those that a node reads, also through other views."""
        for key in node.inputs:
            view = self.by_id.get(key)
            if view is None or view.materialized != "view":
                continue
            if view.key not in self._unknown_views:
                self._unknown_views[view.key] = view.name if self._view(view) is None else self._unknown_view(view)
            if (name := self._unknown_views[view.key]) is not None:
                return name
        return None

    def _branches(self, node: DbtNode) -> bool:
        """Whether the template may render differently once the table exists."""
        asks = not node.raw_code or bool(_ASKS_THE_WAREHOUSE.search(node.raw_code))
        return asks or any(self._macro_asks(key) for key in node.macros)

    def _macro_asks(self, key: str) -> bool:
        if key not in self._macro_answers:
            self._macro_answers[key] = False  # a macro that calls itself
            macro = self.macros.get(key)
            depends = macro.get("depends_on") if macro is not None else None
            macros = depends.get("macros") if isinstance(depends, Mapping) else None
            self._macro_answers[key] = (
                macro is None
                or bool(_ASKS_THE_WAREHOUSE.search(str(macro.get("macro_sql"))))
                or any(self._macro_asks(str(called)) for called in (macros if isinstance(macros, list) else ()))
            )
        return self._macro_answers[key]

    @cached_property
    def _merges(self) -> dict[str, str | None]:
        """The last merges by the files of their nodes."""
        return {}

    @cached_property
    def _renderings(self) -> dict[TableKey, str | Unknown]:
        return {}

    @cached_property
    def _unknown_views(self) -> dict[TableKey, str | None]:
        """By view, the name of the first one among it and what it reads whose query is not known."""
        return {}

    @cached_property
    def _macro_answers(self) -> dict[str, bool]:
        return {}

    def _read_compiled(self, node: DbtNode) -> str | None:
        """The compiled query of a node; None where there is none to read."""
        if node.compiled_code or node.file is None:
            return node.compiled_code or None
        return self._read_text(self._compiled_file(node.file))

    def _compiled_file(self, file: str) -> Path:
        return self.target / "compiled" / file

    def _read_text(self, file: Path) -> str | None:
        try:
            return as_source(read_file(file, self.boundary).decode("utf-8"))
        except (OSError, UnicodeDecodeError):
            return None


def target_folder(file: Path) -> Path | None:
    """Return the dbt target folder whose run/ the file (or folder) belongs to; None where there is no manifest."""
    path = file.absolute()
    for folder in (path, *path.parents):
        if folder.name == "run" and (folder.parent / MANIFEST).is_file():
            return folder.parent
    return None


def read_dbt_project(target: Path, problems: Problems) -> DbtProject:
    """Return the project of a target folder; without tables, and a problem, where its manifest cannot be read."""
    file = target / MANIFEST
    try:
        manifest = json.loads(read_file(file, Boundary(target.parent), artifact=True))
    except (OSError, ValueError, RecursionError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not JSON"
        _bad_manifest(file, str(what), problems)
        return DbtProject(target)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("nodes"), dict):
        _bad_manifest(file, 'it has no "nodes"', problems)
        return DbtProject(target)
    reader = ManifestReader(manifest)
    nodes = dict(reader.nodes())
    tables: dict[TableKey, DbtNode] = {}
    for node in nodes.values():
        tables.setdefault(node.key, node)
    files = {node.file: node for node in nodes.values() if node.file is not None}
    return DbtProject(target, tables, files, reader.adapter, reader.macros, nodes)


def _bad_manifest(file: Path, what: str, problems: Problems) -> None:
    hint = "write it again with `dbt parse`; without it lint knows no layout of the project's tables"
    problems.add("unreadable", f"dbt's manifest cannot be read: {what}", Place(str(file), 1, 1), hint)


def _is_new_rows(name: str, node: DbtNode) -> bool:
    """Whether a name is that of the temporary view of a model's new rows: `<identifier>__dbt_tmp`, perhaps a suffix."""
    return bool(node.key) and name.casefold().startswith(f"{node.key[-1]}__dbt_tmp")


def _has_view(node: DbtNode) -> bool:
    """Whether dbt merges a temporary view over the node's compiled query."""
    return node.materialized == "incremental" and node.language == "sql"


def _keeps_columns(node: DbtNode) -> bool:
    """Whether the table of a model may keep columns that its query has no longer."""
    evolves = node.config.get("merge_with_schema_evolution") not in (None, False)
    hooks = str([node.config.get(key) for key in ("pre-hook", "post-hook", "sql_header")]).casefold()
    return evolves or node.config.get("on_schema_change") == "append_new_columns" or "automerge" in hooks


def _is_newer(file: Path, other: Path) -> bool:
    try:
        return file.stat().st_mtime > other.stat().st_mtime
    except OSError:
        return False
