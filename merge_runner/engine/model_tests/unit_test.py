"""Runs a unit test: the model's own statement on the given rows, and the actual rows against the expected ones."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.context import NodeContext, TestOutcome
from merge_runner.engine.merge.duplicate_matches import duplicate_matches, refuse_several_matches, several_matches
from merge_runner.engine.merge.unread_target import of_unread_target, source_as_view
from merge_runner.engine.model_tests.quick_read import first_found
from merge_runner.engine.response import TestRun
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.jvm_util import plain_value
from merge_runner.engine.spark.sql import analyse, run_command, run_statement, set_confs
from merge_runner.engine.table_format.protocol import CHANGE_TYPE, TableFormat
from merge_runner.engine.tables.catalog import no_columns
from merge_runner.formats.failures import DUPLICATE_MATCHES, UNREADABLE
from merge_runner.formats.merge_plans import duplicates_rows
from merge_runner.formats.registry import capabilities
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import origin
from merge_runner.merge.statement import MergeStatement
from merge_runner.plan.steps.model_tests import Given, RunUnitTest
from merge_runner.pruning.layout.layout import UNKNOWN
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.relation import Relation, quote
from merge_runner.testing.difference import Difference, Row, difference
from merge_runner.testing.difference_text import as_json, in_words
from merge_runner.testing.rows import RowError, Rows, Types, check_names, rows_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FOR_A_FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # To compile code takes longer than to interpret it over ten rows: with these confs a test takes two thirds of the
    # processor time (four tests of the flights project, warm: 2.2 against 3.4 s, next to other work).
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # One task reads the few lines of a Delta log, and the rows that are given.
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.leafNodeDefaultParallelism": "1",
    # Jobs and shuffles that only large tables gain by: to find out that one side of a join is small; to write fewer
    # files of a table with partitions; to name all files of the table in the checksum of each commit (Delta computes it
    # even where it is not written).
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.databricks.delta.merge.repartitionBeforeWrite.enabled": "false",
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
    # One file for each commit, not two.
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
}
"""Confs of a test's session. None of them changes what a statement means; those of the model win."""


_UNRESOLVED = "UNRESOLVED_COLUMN"


@dataclass(frozen=True)
class Finding:
    """One thing that is not as expected."""

    message: str
    difference: Difference | None = None


def run_unit_test(step: RunUnitTest, context: NodeContext) -> None:
    """Run the test and put its outcome into `context.output.tested`. Raises EngineError where it could not be run."""
    with scratch(step, context):
        try:
            findings = list(_findings(step, context))
        except EngineError as error:
            if error.code.startswith(_UNRESOLVED) and error.place is None:
                error.add_hint(f"the test gives {'; '.join(map(_words_of_input, step.given))}")
            raise
    differences = [as_json(finding.difference) for finding in findings if finding.difference is not None]
    context.output.response.test = TestRun(differences=differences)
    message = "\n".join(
        finding.message if finding.difference is None else in_words(finding.message, finding.difference)
        for finding in findings
    )
    count = sum(finding.difference.count if finding.difference is not None else 1 for finding in findings)
    context.output.tested = TestOutcome(count, "fail" if findings else "pass", message or None)


def _words_of_input(given: Given) -> str:
    """Which columns a test gives of an input, and where."""
    where = f" ({given.rows.places.whole()})" if given.rows.places is not None else ""
    columns = ", ".join(given.rows.names) or "rows of a query"
    return f"{given.name} with {columns}{where}"


@contextmanager
def scratch(step: RunUnitTest, context: NodeContext) -> Iterator[None]:
    """The schemas of the test, which are gone afterwards."""
    session = context.session
    set_confs(session, {**FOR_A_FEW_ROWS, **step.confs})
    inputs = [given_input.relation for given_input in step.given]
    target = step.target.relation if step.target is not None else None
    schemas = dict.fromkeys(map(_schema, (*inputs, *((target,) if target is not None else ()))))
    schemas.pop(None, None)  # the changes of a table are a temporary view
    try:
        for schema in schemas:
            run_command(session, f"CREATE SCHEMA IF NOT EXISTS {schema}")
        yield
    finally:
        if target is not None:
            run_command(session, f"DROP TABLE IF EXISTS {target}")  # an Iceberg catalog knows no CASCADE
        for schema in schemas:
            cascade = " CASCADE" if schema in map(_schema, inputs) else ""
            run_command(session, f"DROP SCHEMA IF EXISTS {schema}{cascade}")
        if step.target is not None and isinstance(step.target.location, Path):
            shutil.rmtree(step.target.location, ignore_errors=True)  # the files of a table by location outlive it


def _schema(relation: Relation) -> Relation | None:
    return Relation(relation.schema, relation.catalog) if relation.schema is not None else None


def _findings(step: RunUnitTest, context: NodeContext) -> Iterator[Finding]:
    session = context.session
    give(step, session)
    if step.target is None:
        yield from _of_query(step, session)
        return
    create(step, context)
    feeds = step.expected.changes is not None
    table_format = context.table_format(step.target.format)
    before = table_format.state(session, step.target.relation).version if feeds else None
    error = run(session, step)
    if error is not None and step.expected.error is None:
        raise error
    yield from _of_error(step.expected.error, error)
    yield from _of_table(step, session, table_format)
    yield from _of_changes(step, session, step.target.relation, table_format, before)


def create(step: RunUnitTest, context: NodeContext) -> None:
    """Creates the target, if there is one, with the rows that it is to have before. Raises EngineError."""
    if step.target is not None:
        if step.reads_itself is not None and not step.target.has_all_types:
            raise no_columns(step.model, step.reads_itself)
        context.catalog.create_target(
            context.session, step.target, step.shape.query if step.shape else None, replace=False
        )
        _fill(context.session, step.target.relation, step.this)


def give(step: RunUnitTest, session: SparkSession) -> None:
    """Makes a view of each input's rows. Raises EngineError."""
    for given in step.given:
        _give(session, given)


def _give(session: SparkSession, given: Given) -> None:
    query = _query(given.rows, given.types, given.name, _names(session, given.rows))
    if given.relation.schema is None:
        session.sql(query).createOrReplaceTempView(given.relation.identifier)
    else:
        run_command(session, f"CREATE OR REPLACE VIEW {given.relation} AS\n{query}")


def _names(session: SparkSession, rows: Rows) -> Sequence[str]:
    """The columns of the rows. Raises EngineError, with its place in the test, for a query that Spark refuses."""
    if rows.sql is None:
        return rows.names
    try:
        return analyse(session, rows.sql).names
    except EngineError as error:
        if rows.places is not None:
            error.place = rows.places.whole() if error.offset is None else rows.places.text(error.offset)
        raise


def _query(rows: Rows, types: Types, name: str, names: Sequence[str], allowed: Sequence[str] | None = None) -> str:
    """The rows, which have the columns `given`, as a query. Raises EngineError for what the table cannot have."""
    try:
        if allowed is not None:
            check_names(rows, names, allowed)
        return rows_query(rows, types, names)
    except RowError as error:
        raise EngineError("unit-test", f"the rows of {name}: {error}", error.hint, place=error.place) from None


def _fill(session: SparkSession, table: Relation, rows: Rows) -> None:
    """Puts rows into the table that a MERGE is to find: what a row does not have is NULL, generated or the default."""
    if rows.sql is None and not rows.values:
        return
    columns, names = _types(session, f"SELECT * FROM {table}"), _names(session, rows)
    types = _of_names(columns, names)
    query = _query(rows, types, "this", names, tuple(columns))
    run_command(session, f"INSERT INTO {table} ({', '.join(map(quote, types))})\n{query}")


def _types(session: SparkSession, query: str) -> dict[str, str | None]:
    return {field.name: field.dataType.simpleString() for field in analyse(session, query).fields}


def _of_names(types: Types, names: Sequence[str]) -> dict[str, str | None]:
    folded = {name.lower() for name in names}
    return {name: data_type for name, data_type in types.items() if name.lower() in folded}


def run(session: SparkSession, step: RunUnitTest) -> EngineError | None:
    """Run the MERGE of a test; return its error, with the position in the author's text and with the keys."""
    if step.target is None:
        raise TypeError(f"{step.model} is no MERGE")
    table, statement = step.target.relation, parse(step.sql)
    scope = Scope.of(statement, UNKNOWN)
    try:
        if duplicates_rows(step.target.format, (clause.kind for clause in statement.clauses), step.target.properties):
            refuse_several_matches(session, table, statement, scope)
        try:
            run_command(session, step.sql)
        except EngineError as unread:
            if unread.code != UNREADABLE or not capabilities(step.target.format).leaves_subqueries_unread:
                raise
            with source_as_view(session, step.sql, unread) as text:
                run_command(session, text)
    except EngineError as raised:
        error = raised
        if error.code == UNREADABLE and capabilities(step.target.format).leaves_subqueries_unread:
            error = of_unread_target(error, statement, step.model)
        if error.statement == step.sql:
            if error.code in DUPLICATE_MATCHES:
                _name_duplicates(error, session, table, statement, scope)
            if error.offset is not None:
                error.statement, error.offset = step.text, origin(step.edits, error.offset)
        return error
    return None


def _name_duplicates(
    error: EngineError, session: SparkSession, table: Relation, statement: MergeStatement, scope: Scope
) -> None:
    duplicates = []
    with suppress(EngineError):  # then the engine's own error is kept
        duplicates = duplicate_matches(session, table, statement, scope)
    if duplicates:
        error.message = f"{several_matches(duplicates)}: {error.message}"


def _of_error(expected: str | None, error: EngineError | None) -> Iterator[Finding]:
    if expected is None:
        return
    if error is None:
        yield Finding(f"expected an error with {expected!r}, and the statement ran to its end")
    elif expected.lower() not in f"{error.code} {error.message}".lower():
        yield Finding(f"expected an error with {expected!r}, and it was {error.code}: {error.message}")


def _of_query(step: RunUnitTest, session: SparkSession) -> Iterator[Finding]:
    """What a model that is a query gives: its rows, or an error."""
    rows = step.expected.rows
    try:
        types = _types(session, step.sql)
        source = f"(\n{step.sql}\n)"
        difference = _difference(session, source, types, rows or Rows(), step.key) if rows is not None else None
        if rows is None:
            run_statement(session, step.sql)
    except EngineError as error:
        if step.expected.error is None:
            raise
        yield from _of_error(step.expected.error, error)
        return
    yield from _of_error(step.expected.error, None)
    if difference is not None:
        yield Finding("the rows are not as expected", difference)


def _of_table(step: RunUnitTest, session: SparkSession, table_format: TableFormat) -> Iterator[Finding]:
    if step.expected.rows is None or step.target is None:
        return
    table, rows = step.target.relation, step.expected.rows
    types = _types(session, f"SELECT * FROM {table}")

    def compare() -> Difference | None:
        return _difference(session, str(table), types, rows, step.key)

    difference = first_found(session, table_format.quick_read_confs, compare)
    if difference is not None:
        yield Finding("the final target is not as expected", difference)


def _of_changes(
    step: RunUnitTest, session: SparkSession, table: Relation, table_format: TableFormat, before: int | None
) -> Iterator[Finding]:
    if step.expected.changes is None:
        return
    types = {**_types(session, f"SELECT * FROM {table}"), CHANGE_TYPE: "string"}
    with table_format.changes(session, table, before, step.key) as source:
        difference = _difference(session, source, types, step.expected.changes, (*step.key, CHANGE_TYPE))
    if difference is not None:
        yield Finding("the change feed is not as expected", difference)


def _difference(session: SparkSession, source: str, types: Types, rows: Rows, key: Sequence[str]) -> Difference | None:
    """Compares rows in the columns that are named; where none is, in all. One query reads both."""
    names = _names(session, rows)
    columns = _of_names(types, names or tuple(types))
    expected = _query(rows, columns, "expect", names, tuple(types))
    shown = ", ".join(map(quote, columns))
    result_rows = run_statement(
        session,
        f"SELECT true AS expected, {shown} FROM (\n{expected}\n)\nUNION ALL\nSELECT false, {shown} FROM {source}",
    )
    sides: dict[bool, list[Row]] = {True: [], False: []}
    for row in result_rows:
        sides[row[0]].append(tuple(map(plain_value, tuple(row)[1:])))
    return difference(tuple(columns), sides[True], sides[False], key)
