"""What the names in a project mean and where they are written: what most answers to an editor are made of.

It is made of the last state of the project that could be loaded; the texts that an editor has open are newer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from merge_runner.errors import Problems, ProblemsError
from merge_runner.graph.graph import ModelNode, Node, RefNode, SeedNode, SourceNode, nodes_of
from merge_runner.lint.run.project_units import ProjectUnits
from merge_runner.lsp.documents.query_columns import (
    NO_COLUMNS,
    Columns,
    KnownColumn,
    QueryColumns,
    layout_columns,
)
from merge_runner.lsp.syntax.outline import Entry, toml_outline, yaml_outline
from merge_runner.lsp.syntax.relations import Subject
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.lineage.model_lineage import ModelLineages
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.load.project_paths import project_paths
from merge_runner.project.schema.selectors import FILE as SELECTORS
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project_file import Boundary
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.template.packages import installed_macro, package_file
from merge_runner.template.static.macro_definitions import MacroDefinition
from merge_runner.template.static.tags import STRING
from merge_runner.text import Place, SourceText

_HEAD = re.compile(
    rf"\{{%[-+]?\s*(?:macro|test|data_test)\s+(?P<text>\w+\s*\((?:{STRING}|[^'\"])*?\))\s*[-+]?%\}}", re.S
)
T = TypeVar("T")
_MOST_RECENT = 4


class ProjectIndex(QueryColumns):
    """A loaded project; what costs time is found when it is first asked for. `open_texts` are texts by project path."""

    def __init__(self, prepared: Prepared, open_texts: Mapping[str, str] | None = None) -> None:
        self.prepared = prepared
        self.open_texts: Mapping[str, str] = open_texts or {}
        self._columns: dict[str, Columns] = {}
        self._merge_sources: dict[str, Columns] = {}
        self._recent: dict[Hashable, Any] = {}
        self._recent_lock = Lock()  # questions are answered in threads

    def recent(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns; it is kept for the last keys, and no longer than the project."""
        with self._recent_lock:
            value: T | None = self._recent.get(key)
        if value is None:
            # Not under the lock, for which other questions would wait: two threads may make the same, either will do.
            value = make()
            with self._recent_lock:
                self._recent[key] = value
                for oldest in list(self._recent)[:-_MOST_RECENT]:
                    del self._recent[oldest]
        return value

    @cached_property
    def layouts(self) -> Layouts:
        """The layouts of its tables; without those of a recorded catalog that cannot be read."""
        try:
            return Layouts.load(self.prepared)
        except ProblemsError:
            return Layouts(self.prepared)

    @cached_property
    def lineages(self) -> ModelLineages:
        """The column lineage of its models."""
        return ModelLineages(self.prepared, self.layouts)

    @cached_property
    def table_names(self) -> Mapping[str, str]:
        """The names of models, seeds and sources by those of their tables, case folded."""
        tables = (node for node in (*self.refs.values(), *self.sources.values()) if node.materialized != "ephemeral")
        return {node.relation.name.casefold(): node.full_name for node in tables if node.relation is not None}

    @cached_property
    def refs(self) -> Mapping[str, RefNode]:
        """Models and seeds by name."""
        return {node.name: node for node in nodes_of(self.prepared.graph.nodes, RefNode)}

    @cached_property
    def sources(self) -> Mapping[tuple[str, str], SourceNode]:
        """Tables of sources by the names of source and table."""
        return {(node.source_name, node.name): node for node in nodes_of(self.prepared.graph.nodes, SourceNode)}

    @cached_property
    def macros(self) -> Mapping[str, MacroDefinition]:
        """The project's macros by name."""
        return {macro.name: macro for macro in self.prepared.templates.macros()}

    def macro(self, name: str) -> MacroDefinition | None:
        """Return a macro of the project, or one of a package by its dotted name."""
        packaged = installed_macro(name)
        return self.macros.get(name) if packaged is None else packaged.definition

    @cached_property
    def models_by_path(self) -> Mapping[str, str]:
        """The ids of its models by path."""
        return {node.path: node.unique_id for node in nodes_of(self.prepared.graph.nodes, ModelNode)}

    def model_at(self, path: str) -> ModelNode | None:
        """Return the model whose file this is."""
        unique_id = self.models_by_path.get(path)
        return self.prepared.graph.model(unique_id) if unique_id is not None else None

    @cached_property
    def own_files(self) -> frozenset[str]:
        """The paths of its models, macros, tests, fixtures and property files, those that cannot be read among them."""
        fixtures = (source.path for source in self.prepared.files.fixtures.values())
        others = (source.path for source in self._other_sources)
        return frozenset({*self.models_by_path, *others, *self.property_files, *fixtures, PYPROJECT, SELECTORS})

    @property
    def _other_sources(self) -> list[SourceText]:
        """The texts of models that cannot be read, macros, tests and analyses."""
        files = self.prepared.files
        readable = {node.name for node in nodes_of(self.prepared.graph.nodes, ModelNode)}
        sources = [files.models[name].source for name in files.models if name not in readable]
        return [*sources, *files.macros, *files.singular_tests, *(analysis.source for analysis in files.analyses)]

    def text(self, path: str) -> str:
        """Return the text of a file, as an editor has it or as it was when the project was loaded; "" for no file."""
        if path in self.open_texts:
            return self.open_texts[path]
        packaged = package_file(path) if path not in self._texts else None
        return self._texts.get(path, "") if packaged is None else packaged.read_text(encoding="utf-8")

    def file(self, path: str) -> Path:
        """Return a file of the project, or of a package of macros."""
        packaged = package_file(path) if path not in self._texts else None
        return self.prepared.files.root / path if packaged is None else packaged

    def source_text(self, path: str) -> SourceText:
        """Return a file with its text, for places in it."""
        return SourceText(path, self.text(path))

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        files = self.prepared.files
        sources = self._other_sources
        for path in (*self.property_files, PYPROJECT, SELECTORS):
            source = read_text(files.root / path, path, Problems(), Boundary(files.root))
            if source is not None:
                sources.append(source)
        models = {node.path: node.raw_code for node in nodes_of(self.prepared.graph.nodes, ModelNode)}
        return models | {source.path: source.text for source in sources}

    @cached_property
    def property_files(self) -> tuple[str, ...]:
        """The paths of the YAML files that describe models, seeds, sources and macros."""
        files = self.prepared.files
        return tuple(project_paths(str(files.root), files.settings, Problems()).property_files)

    @property
    def sql_files(self) -> Iterator[str]:
        """The paths of all files with Jinja."""
        return (path for path in self._texts if path.endswith(".sql"))

    def node(self, subject: Subject, here: ModelNode | None = None) -> Node | None:
        """Return the node that a relation of the model `here` is, also where SQL has the name of its table."""
        if subject.kind == "ref":
            return self.refs.get(subject.parts[0])
        if subject.kind == "source":
            return self.sources.get((subject.parts[0], subject.parts[1]))
        if subject.kind == "table":
            unique_id = self.layouts.node_named(subject.parts)
            return self.prepared.graph.nodes[unique_id] if unique_id is not None else None
        return here if subject.kind == "this" else None

    def layout(self, node: Node) -> TableLayout:
        """Return what is known of a table."""
        return self.layouts.of(node.unique_id)

    def columns(self, node: Node) -> Columns:
        """Return the columns of a model, seed or source."""
        if node.unique_id not in self._columns:
            self._columns[node.unique_id] = self._find_columns(node)
        return self._columns[node.unique_id]

    def _find_columns(self, node: Node) -> Columns:
        declarations = node.columns if isinstance(node, RefNode | SourceNode) else {}
        by_name = {name.casefold(): column for name, column in declarations.items()}
        columns: dict[str, KnownColumn] = {}
        layout = self.layout(node)
        for column in layout.columns or ():
            declaration = by_name.get(column.name.casefold(), {})
            data_type = declaration.get("data_type") or (str(column.data_type) if column.data_type is not None else "")
            description = str(declaration.get("description") or "")
            columns[column.name.casefold()] = KnownColumn(column.name, data_type, description, column.nullable, node)
        for name, keys in declarations.items():
            known_column = KnownColumn(
                name, keys.get("data_type") or "", str(keys.get("description") or ""), None, node
            )
            columns.setdefault(name.casefold(), known_column)
        return Columns(tuple(columns.values()), self.layouts.names(node.unique_id) is not None)

    def table_columns(self, subject: Subject, here: ModelNode | None) -> Columns:
        """Return the columns of what a relation in a text of the model `here` is."""
        node = self.node(subject, here)
        if node is not None:
            return self.columns(node)
        table = self.layouts.lookup(subject.parts) if subject.kind == "table" else None
        return layout_columns(table.layout) if table is not None else NO_COLUMNS

    def analysed_source(self, here: ModelNode) -> Columns:
        """Return what the analysis knows of the source of a model's MERGE, as it was when the project was loaded."""
        if here.unique_id not in self._merge_sources:
            merge = ProjectUnits(self.prepared, self.layouts).merge(here.unique_id)
            source_columns = merge.source.known_columns if merge is not None else ()
            columns = tuple(
                KnownColumn(column.name, str(column.data_type or ""), "", column.nullable) for column in source_columns
            )
            complete = merge is not None and merge.source.columns is not None
            self._merge_sources[here.unique_id] = Columns(columns, complete)
        return self._merge_sources[here.unique_id]

    def is_named(self, subject: Subject, qualifier: str, here: ModelNode | None) -> bool:
        """Whether a table without an alias has this name, or is the target of a model of this name."""
        node = self.node(subject, here)
        if here is not None and here.name.casefold() == qualifier.casefold():
            return node is here
        table = node.relation.identifier if node is not None and node.relation is not None else None
        return table is not None and table.casefold() == qualifier.casefold()

    def place(self, node: Node) -> Place:
        """Return where a model, seed or source is defined."""
        return node.place if isinstance(node, SourceNode) else Place(node.path, 1, 1)

    def described(self, node: Node, text: str | None = None) -> Entry | None:
        """Return the entry of YAML that describes a model, seed or source; in the `text` of its file if given."""
        path = self.described_in(node)
        if path is None:
            return None
        root = yaml_outline(self.text(path) if text is None else text)
        if isinstance(node, SourceNode):
            sources = [entry for entry in _items(root, "sources") if _name(entry) == node.source_name]
            tables = (table for source in sources for table in _items(source, "tables"))
            return next((table for table in tables if _name(table) == node.name), None)
        key = "seeds" if isinstance(node, SeedNode) else "models"
        return next((entry for entry in _items(root, key) if _name(entry) == node.name), None)

    def described_in(self, node: Node) -> str | None:
        """Return the path of the YAML that describes a model, seed or source."""
        return node.path if isinstance(node, SourceNode) else node.patch_path

    def column_place(self, node: Node, name: str) -> Place | None:
        """Return where YAML declares a column."""
        entry, path = self.described(node), self.described_in(node)
        for item in _items(entry, "columns") if entry is not None else ():
            item_name = item.get("name")
            if item_name is not None and path is not None and item_name.value.casefold() == name.casefold():
                return self.source_text(path).place(item_name.value_span.start, item_name.value_span.end)
        return None

    def var_place(self, name: str) -> Place | None:
        """Return where pyproject.toml declares a var."""
        table = toml_outline(self.text(PYPROJECT))
        for key in ("tool", "merge-runner", "vars", name):
            inner = table.get(key)
            if inner is None:
                return None
            table = inner
        return self.source_text(PYPROJECT).place(table.span.start, table.span.end)

    def macro_signature(self, macro: MacroDefinition) -> str:
        """Return the head of a macro: `in_window(column)`."""
        head = _HEAD.match(macro.text)
        if head is None:
            return f"{macro.name}()"
        name, _, parameters = " ".join(head["text"].split()).partition("(")
        return f"{name}({parameters.removesuffix(')').strip()})"

    def macro_text(self, macro: MacroDefinition) -> str:
        """Return what YAML says of a macro, else the comment before it."""
        described = self.prepared.files.macro_properties.get(macro.name)
        if described is not None and described.description:
            return described.description
        source = self.source_text(macro.place.path)
        before = source.text[: source.text.rfind("{%", 0, source.offset(macro.place.line, macro.place.column))]
        return "\n".join(line.strip() for line in _comment(before.rstrip()).split("\n")).strip()


def _comment(text: str) -> str:
    """Return what is in the comment of Jinja that a text ends with; "" for none."""
    start = text.find("{#", text.rfind("#}", 0, -2) + 1) if text.endswith("#}") else -1
    inside = text[start + 2 : -2] if start >= 0 else ""
    return inside.removeprefix("-").removeprefix("+").removesuffix("-").removesuffix("+")


def _items(entry: Entry, key: str) -> list[Entry]:
    child = entry.get(key)
    return child.children if child is not None else []


def _name(entry: Entry) -> str | None:
    child = entry.get("name")
    return child.value if child is not None else None
