"""Executes the statements of a template that may ask the engine, and queries whose rows are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.engine.merge.preview import clause_rows
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.jvm_util import plain_value
from merge_runner.engine.spark.sql import run_query
from merge_runner.engine.tables.catalog import Catalog, table_exists
from merge_runner.merge.statement import Clause
from merge_runner.merge.syntax.query_span import only_reads
from merge_runner.plan.steps.inputs import Input
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.relation import Relation
from merge_runner.template.operation.table import Table
from merge_runner.template.outcome import RefusedError
from merge_runner.template.rendered_text import Log

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_UNKNOWN_TABLE = "TABLE_OR_VIEW_NOT_FOUND"


@dataclass
class Statements:
    """An `Operation`: its statements run in one session, which finds what is `to_attach` from the next one on."""

    session: SparkSession
    catalog: Catalog
    on_log: Callable[[Log], None]
    count: int = 0
    """How many statements have run."""
    to_attach: list[Input] = field(default_factory=list)
    left_out: Callable[[str], bool] = lambda _: False
    """Whether a statement is not executed, and returns no rows."""
    queries_only: bool = False
    """Whether what is no query is refused."""
    refused: EngineError | None = None
    """What ended the rendering, where that is an error of the engine."""

    def run(self, statement: str) -> Table:
        """Execute a statement and return its rows. Raises RefusedError where the engine refuses it."""
        if self.left_out(statement):
            return Table()
        if self.queries_only and not only_reads(statement):
            message = "a template executes a statement that may write, and only queries are permitted here"
            raise RefusedError(
                "not-permitted", message, "`run_query` of SELECT, VALUES, SHOW and DESCRIBE is permitted"
            )
        with self._refusing():
            self._attach()
            names, rows = run_query(self.session, statement)
        self.count += 1
        return _table(names, rows)

    def exists(self, relation: Relation) -> bool:
        """Return whether the session knows a table or view. Raises RefusedError where the engine does not answer."""
        with self._refusing():
            self._attach()
            return table_exists(self.session, relation)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            if error.code == _UNKNOWN_TABLE:
                error.add_hint("name a model, a seed or a table of a source by `ref` or `source`")
            self.refused = error
            raise RefusedError(error.code, error.message, error.hint) from error

    def log(self, log: Log) -> None:
        """Show what the macro logs."""
        self.on_log(log)

    def _attach(self) -> None:
        while self.to_attach:
            try:
                self.catalog.attach(self.session, self.to_attach.pop(0))
            except EngineError as error:
                if error.code != "missing-input":  # the statement may create it
                    raise


def changed_rows(session: SparkSession, merge: RunMerge, most: int) -> Iterator[tuple[Clause, Table]]:
    """Yield each clause of a MERGE with some of the rows that it would change. Raises EngineError."""
    for preview in clause_rows(session, merge.target, merge.judged.statement, most):
        yield preview.clause, _table(preview.columns, preview.rows)


def first_rows(session: SparkSession, query: str, most: int) -> Table:
    """Return some rows of a query. Raises EngineError."""
    # The parenthesis is on a separate line: the query may end in a comment.
    return _table(*run_query(session, f"SELECT * FROM (\n{query}\n) LIMIT {most}"))


def _table(names: Sequence[str], rows: Sequence[Row]) -> Table:
    return Table.of(names, [[plain_value(row[at]) for at in range(len(names))] for row in rows])
