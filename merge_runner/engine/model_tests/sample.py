"""Real rows for a first unit test: some of each input, and those of the target that they meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from merge_runner.engine.context import NodeContext
from merge_runner.engine.model_tests.unit_test import create, give, run, scratch
from merge_runner.engine.spark.jvm_util import plain_value
from merge_runner.engine.spark.sql import run_statement
from merge_runner.merge.parse import parse
from merge_runner.plan.steps.model_tests import RunUnitTest
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Sample = list[Mapping[str, Any]]


def some_rows(session: SparkSession, relation: Relation, limit: int) -> Sample:
    """Up to `limit` rows, whichever come first. Raises EngineError."""
    return _rows(session, f"SELECT * FROM {relation} LIMIT {limit}")


def met_rows(step: RunUnitTest, context: NodeContext, table: Relation, limit: int) -> Sample:
    """Up to `limit` rows of a table that the test's statement would match with what the test gives.

    A source that reads the target itself reads `table`, and may leave out all that is given (a high-water mark): then
    the rows are whichever come first. Raises EngineError.
    """
    statement = parse(step.sql)
    target = statement.target
    alias = f" AS {target.alias}" if target.alias is not None else ""
    source, on = statement.source.span.of(statement.text), statement.on_span.of(statement.text)
    own = str(step.target.relation) if step.target is not None else ""
    ctes, source = (text.replace(own, str(table)) for text in (statement.with_text, source))
    query = f"{ctes}SELECT * FROM {table}{alias} LEFT SEMI JOIN {source} ON {on} LIMIT {limit}"
    with scratch(step, context):
        give(step, context.session)
        rows = _rows(context.session, query)
    return rows or (some_rows(context.session, table, limit) if reads_itself(step) else [])


def reads_itself(step: RunUnitTest) -> bool:
    """Whether the source of the test's MERGE reads the table that it merges into."""
    if step.target is None:
        return False
    statement = parse(step.sql)
    return str(step.target.relation) in statement.with_text + statement.source.span.of(statement.text)


def made_rows(step: RunUnitTest, context: NodeContext) -> Sample:
    """The rows that the statement of a test makes of what is given. Raises EngineError."""
    with scratch(step, context):
        give(step, context.session)
        create(step, context)
        if step.target is None:
            return _rows(context.session, step.sql)
        error = run(context.session, step)
        if error is not None:
            raise error
        return _rows(context.session, f"SELECT * FROM {step.target.relation}")


def _rows(session: SparkSession, query: str) -> Sample:
    return [{name: plain_value(value) for name, value in row.asDict().items()} for row in run_statement(session, query)]
