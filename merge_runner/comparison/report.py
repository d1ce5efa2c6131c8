"""What a comparison of tables has found, as text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from merge_runner import markdown
from merge_runner.comparison.columns import SchemaDifference
from merge_runner.plain_json import plain
from merge_runner.testing.failing_rows import cell_text, table_lines

VERSION = 1
"""The version of the JSON."""
Kind = Literal["changed", "only_left", "only_right"]
_KINDS: Mapping[Kind, str] = {
    "changed": "changed",
    "only_left": "only in {left}",
    "only_right": "only in {right}",
}


@dataclass(frozen=True)
class RowCounts:
    """Rows of each side, rows that one side alone has, and keys whose rows differ."""

    left: int
    right: int
    only_left: int = 0
    only_right: int = 0
    changed: int = 0


@dataclass(frozen=True)
class Example:
    """A row that differs: its key, and by column the values of each side; of a changed row those that differ."""

    kind: Kind
    key: Mapping[str, Any]
    left: Mapping[str, Any]
    right: Mapping[str, Any]


@dataclass(frozen=True)
class FilesRead:
    """Files that were read of each side, and files that both have, which were not read."""

    left: int
    right: int
    shared: int


@dataclass(frozen=True)
class TableDifference:
    """The comparison of a model's table, `left`, with another one, `right`; both are labels.

    `columns` are those with different values, with the number of rows. `layout` has the two values of what is laid out
    in another way. `files` None: what was read is not known.
    """

    model: str
    left: str
    right: str
    key: tuple[str, ...]
    rows: RowCounts
    columns: Mapping[str, int] = field(default_factory=dict)
    schema: SchemaDifference = field(default_factory=SchemaDifference)
    layout: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    files: FilesRead | None = None

    @property
    def equal(self) -> bool:
        """Whether both have the same columns and the same rows; they may be laid out in different ways."""
        return not (self.schema or self.rows.only_left or self.rows.only_right or self.rows.changed)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "model": self.model,
            "left": self.left,
            "right": self.right,
            "key": list(self.key),
            "equal": self.equal,
            "rows": plain(self.rows),
            "columns": dict(self.columns),
            "schema": plain(self.schema),
            "layout": plain(self.layout),
            "examples": [plain(example) for example in self.examples],
            "files_read": plain(self.files),
        }


@dataclass(frozen=True)
class FailedComparison:
    """A model that could not be compared, and why; `code` is that of the error."""

    model: str
    message: str
    code: str = "not-compared"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"model": self.model, "equal": None, "error": self.message}


@dataclass(frozen=True)
class DiffReport:
    """The comparisons of all selected models."""

    models: tuple[TableDifference | FailedComparison, ...]

    @property
    def exit_status(self) -> int:
        """0 where all tables are equal, 1 where one is different, 2 where one could not be compared."""
        if any(isinstance(model, FailedComparison) for model in self.models):
            return 2
        return 0 if all(isinstance(model, TableDifference) and model.equal for model in self.models) else 1

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"version": VERSION, "models": [model.as_json() for model in self.models]}

    def lines(self, width: int) -> Iterator[str]:
        """Yield the lines of a text for a terminal of `width` columns."""
        for model in self.models:
            yield from description(model)
            for title, rows in _example_tables(model) if isinstance(model, TableDifference) else ():
                yield f"  {title}:"
                yield from (f"  {line}" for line in table_lines(rows, width - 2))

    def markdown(self) -> Iterator[str]:
        """Yield the lines of a Markdown text: a table of all models, then the details of each that differs."""
        rows = [
            (model.model, "not compared", "", "", "", model.message)
            if isinstance(model, FailedComparison)
            else (
                *(model.model, "equal" if model.equal else "different"),
                *(model.rows.only_left, model.rows.only_right, model.rows.changed, _column_words(model)),
            )
            for model in self.models
        ]
        heads = ("model", "", "only left", "only right", "changed", "columns")
        yield from markdown.table(heads, rows, frozenset((2, 3, 4)))
        for model in self.models:
            if isinstance(model, TableDifference) and (not model.equal or model.layout):
                yield ""
                yield f"**{markdown.cell(model.model)}**: {markdown.cell(model.left)} and {markdown.cell(model.right)}"
                for line in _details(model):
                    yield f"- {markdown.cell(line)}"
                for title, examples in _example_tables(model):
                    yield ""
                    yield f"{markdown.cell(title)}:"
                    yield ""
                    names = list(examples[0])
                    cells = [[cell_text(example.get(name)) for name in names] for example in examples]
                    yield from markdown.table([markdown.cell(name) for name in names], cells)


def description(model: TableDifference | FailedComparison) -> Iterator[str]:
    """Yield lines that say how two tables differ, without examples."""
    if isinstance(model, FailedComparison):
        yield f"{model.model}: not compared: {model.message}"
    else:
        yield f"{model.model}: {model.left} and {model.right}: {summary(model)}"
        yield from (f"  {line}" for line in _details(model))


def summary(model: TableDifference) -> str:
    """Return in a few words how the two tables differ."""
    rows = model.rows
    if not (rows.only_left or rows.only_right or rows.changed):
        words = f"equal rows ({rows.left:,})"
        return words if model.equal else f"{words}, other columns"
    parts = (
        (rows.changed, "changed"),
        (rows.only_left, f"only in {model.left}"),
        (rows.only_right, f"only in {model.right}"),
    )
    counted = ", ".join(f"{count:,} {words}" for count, words in parts if count)
    return f"{counted} (of {rows.left:,} and {rows.right:,} rows)"


def _details(model: TableDifference) -> Iterator[str]:
    schema = model.schema
    for label, names in ((model.left, schema.only_left), (model.right, schema.only_right)):
        if names:
            yield f"columns only in {label}: {', '.join(names)}"
    for name, types in schema.types.items():
        yield f"type of {name}: {types[0]} and {types[1]}"
    for what, (left, right) in model.layout.items():
        yield f"{what}: {left or 'none'} and {right or 'none'}"
    if model.columns:
        yield f"changed rows by column: {_column_words(model)}"
    if model.files is not None and model.files.shared:
        files = model.files
        yield f"files read: {files.left:,} and {files.right:,}; {files.shared:,} that both have were not read"


def _column_words(model: TableDifference) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in model.columns.items())


def _example_tables(model: TableDifference) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Yield a title and rows for each kind of difference that has examples."""
    for kind, words in _KINDS.items():
        rows = [_example_row(example) for example in model.examples if example.kind == kind]
        if rows:
            names = dict.fromkeys(name for row in rows for name in row)
            yield (
                words.format(left=model.left, right=model.right),
                [{n: row.get(n, "=") for n in names} for row in rows],
            )


def _example_row(example: Example) -> Mapping[str, Any]:
    key, left, right = (dict(plain(values)) for values in (example.key, example.left, example.right))
    if example.kind != "changed":
        return key | (left or right)
    return key | {name: f"{cell_text(left[name])} → {cell_text(right[name])}" for name in left}
