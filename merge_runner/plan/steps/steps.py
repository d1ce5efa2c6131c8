"""The steps of building one node, as values: the engine runs them and `explain` displays them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.merge.splice import splice
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.query_span import query_span
from merge_runner.relation import Relation
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.errors import Problem
    from merge_runner.formats import Format
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.plan.steps.inferred_schema import Shape
    from merge_runner.plan.steps.limits import Expectation
    from merge_runner.plan.steps.runtime_filter import Bounding
    from merge_runner.plan.steps.test_scope import Touched
    from merge_runner.project.schema.config import OnSchemaChange
    from merge_runner.project.schema.freshness import Freshness
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.template.rendered import Rendered
    from merge_runner.testing.rows import Rows, Types
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
    location: Path | None = None
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
class TableInput:
    """A table that another model built, or, with a `place` in YAML, a source that is a Delta table in a folder."""

    relation: Relation
    format: str
    location: Path | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ViewInput:
    """A view that another model built: `definition` is the file that keeps its query in the embedded warehouse."""

    relation: Relation
    definition: Path | None


@dataclass(frozen=True)
class FileInput:
    """A source that is files: it is attached as an external table. `columns` are name and declared type.

    `place` is that of the source in its YAML. It is no part of what identifies the table.
    """

    relation: Relation
    path: str
    format: str
    options: Mapping[str, str]
    columns: tuple[tuple[str, str | None], ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class BatchInput:
    """The batch of a stream that is being worked on: a temporary view that all sessions see meanwhile."""

    relation: Relation
    stream: str


Input = TableInput | ViewInput | FileInput | BatchInput


@dataclass(frozen=True)
class AttachInputs:
    """Makes the inputs known to the session's catalog, parents of views first."""

    inputs: tuple[Input, ...]

    def __str__(self) -> str:
        return f"attach {', '.join(map(_input_words, self.inputs)) or 'nothing'}"


@dataclass(frozen=True)
class ShareInputs:
    """Keeps inputs that other nodes read as well: the first reader computes them, the last one lets them go.

    What turns out to be small is not kept: to read it again is cheaper.
    `readers` are the unique ids of all of them, by input.
    """

    readers: Mapping[Relation, tuple[str, ...]]

    def __str__(self) -> str:
        words = (f"{relation.name} ({len(nodes)} readers)" for relation, nodes in self.readers.items())
        return f"compute once for all: {', '.join(words)}"


@dataclass(frozen=True)
class Feed:
    """The changes of `table` that a model has not consumed yet, as the temporary view `view` of its session.

    `reader` is the name under which the model's own table keeps what was consumed.
    """

    view: Relation
    table: Relation
    reader: str


@dataclass(frozen=True)
class OpenFeed:
    """Makes the view of a feed, without rows as yet: what is analysed before the MERGE runs may name it."""

    feed: Feed

    def __str__(self) -> str:
        return f"define {self.feed.view.name}, the changes of {self.feed.table.name}"


@dataclass(frozen=True)
class RunHook:
    """A statement before or after the model's own (`pre_hook`, `post_hook`).

    `prepares` is the target of the MERGE that a pre_hook precedes; None elsewhere. `names_this` says that it names
    `{{ this }}`, `place` where it is written.
    """

    sql: str
    when: str
    prepares: CreateTarget | None = None
    names_this: bool = False
    place: Place | None = None

    def __str__(self) -> str:
        return f"{self.when}: {' '.join(self.sql.split())}"


@dataclass(frozen=True)
class EnforceContract:
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
class CheckSchema:
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
class CheckSource:
    """Stops the node where the source of its MERGE is not what is expected, before its target is replaced."""

    target: Relation
    sql: str
    judged: JudgedMerge
    expect: Expectation

    def __str__(self) -> str:
        return f"look at the source before the table is replaced ({self.expect.limits})"


@dataclass(frozen=True)
class KeepHistory:
    """Stops the node with `problem` where its table holds rows: a full refresh would remove them for good."""

    layout: Layout
    problem: Problem

    def __str__(self) -> str:
        return f"stop where {self.layout.relation.name} holds rows: --full-refresh would lose its history"


@dataclass(frozen=True)
class CreateTarget:
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
class RunMerge:
    """The author's MERGE, the static analysis of its scan, and its runtime filter.

    With a `feed` it runs once for each change, and not at all where there is none. What goes beyond what `expect`
    allows is not committed.
    """

    target: Relation
    sql: str
    judged: JudgedMerge
    bounding: Bounding | None = None
    feed: Feed | None = None
    expect: Expectation | None = None

    def __str__(self) -> str:
        feed = f", from the changes of {self.feed.table.name} since the last it consumed" if self.feed else ""
        more = "".join(f", {each}" for each in (self.bounding, self.expect) if each is not None)
        return f"merge into {self.target.name}{feed}{more}"


@dataclass(frozen=True)
class ReplaceTable:
    """The whole table from a query."""

    layout: Layout
    sql: str

    def __str__(self) -> str:
        return f"replace table {self.layout.relation.name}{_layout_words(self.layout)} by its query"


@dataclass(frozen=True)
class DefineView:
    """A view of a query; `definition` is the file that keeps the query in the embedded warehouse."""

    relation: Relation
    sql: str
    definition: Path | None

    def __str__(self) -> str:
        return f"define view {self.relation.name}"


@dataclass(frozen=True)
class LoadSeed:
    """The whole table from a CSV file of the project. `types` are declared types by column."""

    layout: Layout
    path: Path
    delimiter: str
    types: Mapping[str, str]

    def __str__(self) -> str:
        return f"load seed {self.path.name} into {self.layout.relation.name}"


@dataclass(frozen=True)
class RunTest:
    """A data test: each row of `sql` is a failure.

    `failures` is the expression that counts them; `error_if` and `warn_if` are conditions on that number. `store` is
    the table that keeps all of these rows, None: nothing does. `touched` limits the rows that are tested. `narrow`:
    counting reads all columns of `sql` anyway, so that a few rows are read in the same pass.
    """

    sql: str
    severity: str
    limit: int | None = None
    failures: str = "count(*)"
    error_if: str = "!= 0"
    warn_if: str = "!= 0"
    store: Layout | None = None
    touched: Touched | None = None
    narrow: bool = False

    def __str__(self) -> str:
        stored = f"; its rows are kept in {self.store.relation.name}" if self.store is not None else ""
        return f"test: no row of {' '.join(self.sql.split())}{stored}"


@dataclass(frozen=True)
class MeasureFreshness:
    """Asks a source for the newest `loaded_at`, an expression, and holds its age against what is said of it."""

    relation: Relation
    loaded_at: str
    freshness: Freshness

    def __str__(self) -> str:
        return f"ask how old the newest {self.loaded_at} of {self.relation.name} is: {self.freshness}"


@dataclass(frozen=True)
class Given:
    """Rows that a unit test gives of one input: the test calls it `name`, the statement `relation`."""

    name: str
    relation: Relation
    rows: Rows
    types: Types


@dataclass(frozen=True)
class Expected:
    """What a unit test expects: rows of the final table, of its change feed, or an error that contains a text."""

    rows: Rows | None = None
    changes: Rows | None = None
    error: str | None = None


@dataclass(frozen=True)
class RunUnitTest:
    """A unit test of a model: its statement runs over what the test gives, and its result is compared.

    `target` is the table that a MERGE writes, with the rows `this` in it; None: the model is a query. `text` is the
    compiled text, `edits` what is put into it before it runs. `key` are the columns that identify a row. `confs` are
    those of the test's session. `reads_itself` is where the source that `shape` is made of reads the table, which then
    cannot give its own columns.
    """

    model: str
    given: tuple[Given, ...]
    target: Layout | None
    shape: Shape | None
    this: Rows
    text: str
    edits: tuple[tuple[Span, str], ...]
    expected: Expected
    key: tuple[str, ...] = ()
    confs: Mapping[str, str] = field(default_factory=dict)
    reads_itself: Place | None = None

    @property
    def sql(self) -> str:
        """The statement as it runs."""
        return splice(self.text, self.edits)

    def __str__(self) -> str:
        inputs = ", ".join(["this", *(each.name for each in self.given)])
        return f"unit test: the statement of {self.model} with given rows of {inputs}"


@dataclass(frozen=True)
class OptimizeTable:
    """Compacts the files of a table that is there, and changes none of its rows.

    `zorder_by` are columns to Z-order by. `where` limits the work: to partitions on Delta, to files on Iceberg.
    `after`: only with so many MERGEs since it was compacted last; None: it is what the node is about.
    """

    layout: Layout
    zorder_by: tuple[str, ...] = ()
    where: str | None = None
    after: int | None = None

    def __str__(self) -> str:
        words = f"optimize {self.layout.relation.name}"
        if self.zorder_by:
            words += f", Z-ordered by {', '.join(self.zorder_by)}"
        elif self.layout.cluster_by:
            words += f", clustered by {', '.join(self.layout.cluster_by)}"
        if self.where is not None:
            words += f", where {' '.join(self.where.split())}"
        return words + (f", with every {self.after} merges" if self.after is not None else "")


@dataclass(frozen=True)
class VacuumTable:
    """Removes what no version of a table within its retention needs: files on Delta, snapshots on Iceberg.

    `retain` is in seconds; None: as long as the table itself says.
    """

    layout: Layout
    retain: float | None = None

    def __str__(self) -> str:
        return f"vacuum {self.layout.relation.name}"


@dataclass(frozen=True)
class RaiseError:
    """Stops the node with the error that its template raises for this kind of run (`raise_compiler_error`)."""

    problem: Problem

    def __str__(self) -> str:
        return f"stop: {self.problem.message}"


Step = (
    AttachInputs
    | ShareInputs
    | OpenFeed
    | RunHook
    | EnforceContract
    | CheckSchema
    | CheckSource
    | KeepHistory
    | CreateTarget
    | RunMerge
    | ReplaceTable
    | DefineView
    | LoadSeed
    | RunTest
    | RunUnitTest
    | MeasureFreshness
    | OptimizeTable
    | VacuumTable
    | RaiseError
)


@dataclass(frozen=True)
class NodePlan:
    """The steps of one node, in order. `writes` names the table that they write, None for a view or a test."""

    unique_id: str
    steps: tuple[Step, ...]
    rendered: Rendered | None = None
    """The compiled text of the node, with its map to the author's file; None for a seed or a generic test."""
    sql: str = ""
    """The compiled text: the content of target/compiled."""
    writes: Relation | None = None
    first_run: FirstRun | None = None
    """What runs instead where the table was never built, if that differs."""

    @property
    def forms(self) -> tuple[NodePlan, ...]:
        """All plans of which one runs: this one, and that of a first run where it differs."""
        return (self,) if self.first_run is None else (self, self.first_run.plan)

    @property
    def maintains(self) -> bool:
        """Whether the node compacts a table, and changes no row."""
        return any(isinstance(step, OptimizeTable) and step.after is None for step in self.steps)

    def locate(self, statement: str | None, offset: int | None) -> Place | None:
        """The place in the author's file of an offset in a statement that holds compiled text; else None."""
        if self.rendered is None or statement is None or offset is None:
            return None
        for step in self.steps:
            if not isinstance(step, CreateTarget | CheckSchema):
                continue
            if step.shape is not None and step.shape.query == statement:
                origin = step.shape.origin(offset)
                return None if origin is None else self.rendered.place(origin)
        text = self.rendered.text
        own = Span(0, len(text)) if text in statement else _query_span(text)
        start = statement.find(own.of(text))
        if start < 0 or not 0 <= offset - start <= own.end - own.start:
            return None
        return self.rendered.place(own.start + offset - start)


@dataclass(frozen=True)
class FirstRun:
    """The plan of a first run, in which `is_incremental()` is false, and what decides whether it is one.

    `layout` is the table that is asked. `others` are the ids of other nodes that write it: what they have written does
    not make this node's next run an incremental one.
    """

    plan: NodePlan
    layout: Layout
    others: frozenset[str] = frozenset()


def _input_words(item: Input) -> str:
    return f"the batch of {item.stream}" if isinstance(item, BatchInput) else item.relation.name


def _query_span(text: str) -> Span:
    try:
        return query_span(text)
    except MergeSyntaxError:  # a MERGE whose blanks or semicolons were taken off
        return Span(len(text) - len(text.lstrip()), len(text.rstrip().rstrip(";")))


def _layout_words(layout: Layout) -> str:
    words = f" ({layout.format}"
    if layout.partition_by:
        words += f", partitioned by {', '.join(layout.partition_by)}"
    if layout.cluster_by:
        words += f", clustered by {', '.join(layout.cluster_by)}"
    if layout.sort_by:
        words += f", sorted by {', '.join(layout.sort_by)}"
    return words + ")"
