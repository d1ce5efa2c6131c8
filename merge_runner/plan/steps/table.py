"""The table of a node: its layout, and the steps that create, replace and check it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.plan.steps.step import Step
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from merge_runner.errors import Problem
    from merge_runner.formats import Format
    from merge_runner.location import Location
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.plan.steps.inferred_schema import Shape
    from merge_runner.project.schema.config import OnSchemaChange
    from merge_runner.text import Place


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table to create. `data_type` None: taken from the analysed source."""

    name: str
    data_type: str | None = None
    nullable: bool = True
    comment: str | None = None
    generated: str | None = None
    """What follows the type of a generated or default column: `generated always as (…)`."""


@dataclass(frozen=True)
class Layout:
    """A table as the project declares it. `location` is its folder in the embedded warehouse, None elsewhere."""

    relation: Relation
    format: Format
    location: Location | None = None
    columns: tuple[Column, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    sort_by: tuple[str, ...] = ()
    """Iceberg's sort order: columns or transforms, with `desc` and `nulls last` as in DDL."""
    properties: Mapping[str, str] = field(default_factory=dict)
    on_schema_change: OnSchemaChange = "ignore"
    comment: str = ""
    """The description of the table; empty: nothing is said of its comment."""

    @property
    def has_all_types(self) -> bool:
        """Whether the table can be created from what is declared alone."""
        return bool(self.columns) and all(column.data_type for column in self.columns)


@dataclass(frozen=True)
class EnforceContract(Step):
    """Stops the node where its table would not have the declared columns and types: nothing is written then.

    `existing`: the table that is there is compared. `query` is one whose columns the table gets, `merge` a statement
    that may change the columns of its target. `places` are those of the columns in the YAML, `place` that of the model.
    Where columns are still to be added, the step leaves the MERGE to a later step, which has `after_adding`.
    """

    layout: Layout
    place: Place
    places: Mapping[str, Place]
    existing: bool = False
    query: str | None = None
    merge: MergeStatement | None = None
    after_adding: bool = False

    def __str__(self) -> str:
        words = f"enforce the contract of {self.layout.relation.name}: {len(self.layout.columns)} columns"
        return f"{words}, where columns were added" if self.after_adding else words


@dataclass(frozen=True)
class CheckSchema(Step):
    """Stops the node where its table exists with other columns than the declared ones (`on_schema_change: fail`).

    Where none are declared, those of `shape` are meant. `places` are those of the columns in the YAML, `place` that of
    the model.
    """

    layout: Layout
    shape: Shape | None
    place: Place
    places: Mapping[str, Place]

    def __str__(self) -> str:
        return f"stop where {self.layout.relation.name} has other columns than declared"


@dataclass(frozen=True)
class EmptyWindow(Step):
    """Removes the rows of a batch from its table, before they are merged again. `condition` selects them."""

    layout: Layout
    condition: str

    def __str__(self) -> str:
        return f"delete from {self.layout.relation.name} where {self.condition}"


@dataclass(frozen=True)
class KeepHistory(Step):
    """Stops the node with `problem` where its table holds rows: a full refresh would remove them for good."""

    layout: Layout
    problem: Problem

    def __str__(self) -> str:
        return f"stop where {self.layout.relation.name} holds rows: --full-refresh would lose its history"


@dataclass(frozen=True)
class KeepRows(Step):
    """Stops the node with `problem` where its table holds rows, unless the table has the property `mark`."""

    layout: Layout
    problem: Problem
    mark: str

    def __str__(self) -> str:
        return f"stop where {self.layout.relation.name} holds rows of another run"


@dataclass(frozen=True)
class CreateTarget(Step):
    """Creates the target where it is missing (`replace`: recreates it), else uses the existing one and reports drift.

    `shape` is a query without rows to read whose analysed columns the table gets where none are declared.
    `reads_itself` is where the source of the MERGE reads the table, which then cannot give its own columns.
    `loses_history`: it reads rows of it, so that a full refresh, which the model's config allows, loses what the
    sources no longer have.
    """

    layout: Layout
    shape: Shape | None
    replace: bool = False
    reads_itself: Place | None = None
    loses_history: bool = False

    def __str__(self) -> str:
        verb = "replace" if self.replace else "create where missing, else adopt"
        adds = not self.replace and self.layout.on_schema_change == "append_new_columns"
        words = f"{verb} {self.layout.relation.name}{_layout_words(self.layout)}"
        return f"{words} and add missing columns" if adds else words


@dataclass(frozen=True)
class ReplaceTable(Step):
    """The whole table from a query."""

    layout: Layout
    sql: str

    def __str__(self) -> str:
        return f"replace table {self.layout.relation.name}{_layout_words(self.layout)} by its query"


@dataclass(frozen=True)
class CloneTable(Step):
    """Makes the table a shallow clone of another; one that exists stays as it is, unless the step `replaces` it."""

    layout: Layout
    source: Relation
    replaces: bool = False

    def __str__(self) -> str:
        return f"clone {self.source.name} into {self.layout.relation.name}"


@dataclass(frozen=True)
class CreateBranch(Step):
    """Makes a branch of the table where main is now; one that exists stays as it is, unless the step `replaces` it."""

    layout: Layout
    branch: str
    replaces: bool = False

    def __str__(self) -> str:
        return f"create the branch {self.branch} of {self.layout.relation.name}"


@dataclass(frozen=True)
class DefineView(Step):
    """A view of a query; `definition` is the file that keeps the query in the embedded warehouse."""

    relation: Relation
    sql: str
    definition: Location | None

    def __str__(self) -> str:
        return f"define view {self.relation.name}"


@dataclass(frozen=True)
class LoadSeed(Step):
    """The whole table from a CSV file of the project. `types` are declared types by column."""

    layout: Layout
    path: Path
    delimiter: str
    types: Mapping[str, str]

    def __str__(self) -> str:
        return f"load seed {self.path.name} into {self.layout.relation.name}"


def _layout_words(layout: Layout) -> str:
    words = f" ({layout.format}"
    if layout.partition_by:
        words += f", partitioned by {', '.join(layout.partition_by)}"
    if layout.cluster_by:
        words += f", clustered by {', '.join(layout.cluster_by)}"
    if layout.sort_by:
        words += f", sorted by {', '.join(layout.sort_by)}"
    return words + ")"
