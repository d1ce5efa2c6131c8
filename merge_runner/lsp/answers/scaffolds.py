"""What the YAML of a model lacks and can be written for its author: its columns, and the frame of a unit test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import PurePosixPath

import yaml
from yaml.nodes import Node

from merge_runner.errors import ProblemsError
from merge_runner.formats.types import INTEGERS
from merge_runner.graph.graph import ModelNode, RefNode, SourceNode
from merge_runner.lint.run.project_units import ProjectUnits
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.unsaved import with_model_text
from merge_runner.lsp.names.symbol import described_node
from merge_runner.lsp.syntax.outline import yaml_outline
from merge_runner.lsp.syntax.yaml_insertion import Insertion, New, YamlDocument
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.layout.table_layout import own_relation
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_test_inputs import UnitTestInputs, input_name
from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.query.read_using import inserted_columns
from merge_runner.text import as_source

_NAMES = {"merge": "a_row_that_matches"}
_OF_A_QUERY = "what_it_returns"
_EXAMPLES = {
    "boolean": True,
    "date": date(2024, 1, 1),
    "timestamp": "2024-01-01 00:00:00",
    "timestamp_ntz": "2024-01-01 00:00:00",
}
Fields = Sequence[TableColumn]


@dataclass(frozen=True)
class Scaffold:
    """A title, and what is inserted into the YAML file `path`, which is `new` where it does not exist yet."""

    title: str
    path: str
    insertions: tuple[Insertion, ...]
    new: bool = False


Newest = Callable[[str], str | None]
"""The text of a file of a project by its path, as an editor has it or as it is on disk; None where there is none."""


def scaffolds(project: ProjectIndex, path: str, text: str, offset: int, newest: Newest) -> list[Scaffold]:
    """Return what can be written for the model that a file is of, or that its YAML describes at a cursor.

    Nothing is offered where the YAML cannot be read, or is newer than the state of the project.
    """
    node = project.model_at(path)
    if node is None and path.endswith((".yml", ".yaml")):
        line = text.find("\n", offset)
        before = [entry for entry in yaml_outline(text).walk() if line < 0 or entry.span.start < line]
        described = described_node(project, before[-1]) if before else None
        node = described if isinstance(described, ModelNode) else None
    if node is None:
        return []
    model_text = text if path == node.path else project.text(node.path)
    known_columns = project.recent(
        ("scaffolds", node.path, model_text), lambda: _read_columns(project, node, model_text)
    )
    place = _yaml_place(project, node, newest)
    if place is None:
        return []
    return [
        scaffold
        for scaffold in (
            _declare_columns(place, node, known_columns),
            _write_unit_test(place, project, node, known_columns),
        )
        if scaffold is not None
    ]


@dataclass(frozen=True)
class _ModelColumns:
    """What is known of a model: `columns` None where they are not all known, `inputs` None where it has no unit test.

    `given` are the columns of each input of a unit test by the name that the test has for it.
    """

    columns: Fields | None = None
    inputs: Mapping[str, Fields] | None = None


def _read_columns(project: ProjectIndex, node: ModelNode, text: str) -> _ModelColumns:
    prepared = with_model_text(project.prepared, node, text)
    try:
        layouts = project.layouts if prepared is project.prepared else Layouts.load(prepared)
        merge = ProjectUnits(prepared, layouts).merge(node.unique_id)
        layout = layouts.of(node.unique_id)
        if node.materialized == "merge":
            if merge is None:
                return _ModelColumns()
            inserted = inserted_columns(merge.statement, merge.source)
            by_name = {column.name.casefold(): column for column in (*(inserted or ()), *(layout.columns or ()))}
            columns = tuple(by_name.values()) if inserted is not None or layout.complete else ()
            if not own_relation(node).is_named_by(merge.statement.target.parts, default=False):
                return _ModelColumns(columns or None)  # a unit test has no table for such a target
        else:
            names = layouts.names(node.unique_id)
            columns = tuple(layout.column(name) or TableColumn(name) for name in names or ())
        inputs = dict(_inputs(prepared, layouts, node))
        is_known = all(input_columns for name, input_columns in inputs.items() if name != "this")
        return _ModelColumns(columns or None, inputs if is_known else None)
    except ProblemsError:
        return _ModelColumns()


def _inputs(prepared: Prepared, layouts: Layouts, node: ModelNode) -> Iterator[tuple[str, Fields]]:
    """Yield what a unit test of a model has to give: the columns by input, those of the target first."""
    if node.materialized == "merge":
        yield "this", layouts.of(node.unique_id).columns or ()
    nodes = {
        input_name(parent): parent
        for parent in prepared.graph.nodes.values()
        if isinstance(parent, RefNode | SourceNode)
    }
    inputs = UnitTestInputs(prepared.graph, node, lambda *_: None, tuple)
    for name in inputs.missing(prepared.compiler.read_by(node)):
        feed = name.startswith("changes(")
        columns = layouts.of(nodes[name.replace("changes(", "ref(")].unique_id).columns or ()
        yield name, (*columns, _CHANGE) if feed else columns


_CHANGE = TableColumn("_change_type")


@dataclass(frozen=True)
class _Place:
    """The YAML file of a model, and the entry that describes the model there."""

    path: str
    document: YamlDocument
    entry: Node | None
    new: bool

    def scaffold(self, title: str, insertions: Sequence[Insertion | None]) -> Scaffold | None:
        complete = tuple(insertion for insertion in insertions if insertion is not None)
        where = f"{title} in {PurePosixPath(self.path).name}"
        return Scaffold(where, self.path, complete, self.new) if len(complete) == len(insertions) else None


def _yaml_place(project: ProjectIndex, node: ModelNode, newest: Newest) -> _Place | None:
    """Return where a model is described, or would be: in the only property file of its folder, else in its own."""
    folder = PurePosixPath(node.path).parent
    there = [path for path in project.property_files if PurePosixPath(path).parent == folder]
    path = node.patch_path or (there[0] if len(there) == 1 else str(folder / f"{node.name}.yml"))
    try:
        text = newest(path)
        document = YamlDocument(as_source(text or ""))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None
    if text is not None and as_source(text) != project.text(path):
        return None
    entry = document.find(document.value(document.root, "models"), node.name)
    if entry is None and node.patch_path is not None:  # its name is written in another way
        return None
    return _Place(path, document, entry, text is None)


def _declare_columns(place: _Place, node: ModelNode, known_columns: _ModelColumns) -> Scaffold | None:
    """Declare the columns of a model that its YAML does not declare, and types that it does not have.

    Only where all columns are known: a table is created of the declared ones where all have types.
    """
    if known_columns.columns is None:
        return None
    document = place.document
    declarations = {name.casefold(): keys for name, keys in node.columns.items()}
    missing = [column for column in known_columns.columns if column.name.casefold() not in declarations]
    columns_node = document.value(place.entry, "columns")
    insertions: list[Insertion | None] = []
    for column in known_columns.columns:
        item = document.find(columns_node, column.name, fold=True)
        data_type = _type(column)
        untyped = not declarations.get(column.name.casefold(), {"data_type": ""}).get("data_type")
        if item is None or data_type is None or not untyped or document.value(item, "data_type") is not None:
            continue
        insertions.append(document.key(item, "data_type", New.scalar(data_type), after="name"))
    new = [_column(column) for column in missing]
    if new and place.entry is not None:
        insertions.append(document.items_of(place.entry, "columns", new))
    elif new:
        model = New.mapping({"name": New.scalar(node.name), "columns": New.sequence(new)})
        insertions.append(document.items_of(document.root, "models", [model]))
    number = len(insertions) - bool(new) + len(new)
    subject = "the column" if number == 1 else f"the {number} columns"
    return place.scaffold(f"declare {subject} of {node.name}", insertions) if insertions else None


def _column(column: TableColumn) -> New:
    data_type = _type(column)
    keys = {"name": New.scalar(column.name)}
    return New.mapping(keys if data_type is None else {**keys, "data_type": New.scalar(data_type)})


def _type(column: TableColumn) -> str | None:
    """Return the type of a column as YAML declares it; None where it is not known, or none that a table can have."""
    text = None if column.data_type is None else str(column.data_type)
    return None if text is None or "void" in text else text


def _write_unit_test(
    place: _Place, project: ProjectIndex, node: ModelNode, known_columns: _ModelColumns
) -> Scaffold | None:
    """Write the frame of a unit test: a row of each input and of the result, for its author to edit."""
    if known_columns.inputs is None:
        return None
    names = {entry.test.name for entry in project.prepared.files.unit_tests if entry.test.model == node.name}
    base = _NAMES.get(node.materialized, _OF_A_QUERY)
    free = (free_name for number in count(1) if (free_name := base if number == 1 else f"{base}_{number}") not in names)
    target = known_columns.inputs.get("this") if node.materialized == "merge" else known_columns.columns
    inputs = [
        New.mapping({"input": New.scalar(name), "rows": _rows(columns)})
        for name, columns in known_columns.inputs.items()
    ]
    test = {
        "name": New.scalar(next(free)),
        "model": New.scalar(node.name),
        "given": New.sequence(inputs),
        "expect": New.mapping({"rows": _rows(target or ())}),
    }
    insertion = place.document.items_of(place.document.root, "unit_tests", [New.mapping(test)])
    return place.scaffold(f"generate a unit test of {node.name}", [insertion])


def _rows(columns: Fields) -> New:
    """Return a list of one row, with a value in each column that is not computed; of no row without columns."""
    row = {column.name: _example(column) for column in columns if column.generated is None and column.name}
    return New.sequence([New.row(row)] if row else [])


def _example(column: TableColumn) -> object:
    """Return a value of a column; None of a type that is not known, or has none that is as simple."""
    data_type = column.data_type
    if column is _CHANGE:
        return "insert"
    if data_type is None:
        return None
    if data_type.name in INTEGERS:
        return 1
    if data_type.is_numeric:
        return 0.5 if data_type.name != "decimal" or data_type.scale else 1
    if data_type.is_text:
        return "a"
    return _EXAMPLES.get(data_type.name)
