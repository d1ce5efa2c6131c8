"""Data tests, unit tests and source freshness as steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.merge.splice import splice
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import Layout
from merge_runner.relation import Relation
from merge_runner.text import Place, Span

if TYPE_CHECKING:
    from merge_runner.plan.steps.inferred_schema import Shape
    from merge_runner.project.schema.freshness import Freshness
    from merge_runner.testing.rows import Rows, Types


@dataclass(frozen=True)
class RunTest(Step):
    """A data test: each row of `sql` is a failure.

    `failures` is the expression that counts them; `error_if` and `warn_if` are conditions on that number. `store` is
    the table that keeps all of these rows, None: nothing does. `narrow`:
    counting reads all columns of `sql` anyway, so that a few rows are read in the same pass.
    """

    sql: str
    severity: str
    limit: int | None = None
    failures: str = "count(*)"
    error_if: str = "!= 0"
    warn_if: str = "!= 0"
    store: Layout | None = None
    narrow: bool = False

    def __str__(self) -> str:
        store = f"; its rows are kept in {self.store.relation.name}" if self.store is not None else ""
        return f"test: no row of {' '.join(self.sql.split())}{store}"


@dataclass(frozen=True)
class MeasureFreshness(Step):
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
class RunUnitTest(Step):
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
        inputs = ", ".join(["this", *(rows.name for rows in self.given)])
        return f"unit test: the statement of {self.model} with given rows of {inputs}"
