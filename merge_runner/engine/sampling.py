"""Real rows for a first unit test: some of each input, and those of the target that they meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from merge_runner.engine.plain_value import plain_value
from merge_runner.engine.statements import run_statement
from merge_runner.engine.unit_testing import create, give, run, scratch
from merge_runner.engine.workplace import Workplace
from merge_runner.merge.parse import parse
from merge_runner.plan.steps import RunUnitTest
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Sample = list[Mapping[str, Any]]


def some_rows(session: SparkSession, relation: Relation, limit: int) -> Sample:
    """Up to `limit` rows, whichever come first. Raises EngineError."""
    return _rows(session, f"SELECT * FROM {relation} LIMIT {limit}")


def met_rows(step: RunUnitTest, place: Workplace, table: Relation, limit: int) -> Sample:
    """Up to `limit` rows of a table that the test's statement would match with what the test gives.

    Raises EngineError.
    """
    statement = parse(step.sql)
    target = statement.target
    alias = f" AS {target.alias}" if target.alias is not None else ""
    source, on = statement.source.span.of(statement.text), statement.on_span.of(statement.text)
    query = f"{statement.with_text}SELECT * FROM {table}{alias} LEFT SEMI JOIN {source} ON {on} LIMIT {limit}"
    with scratch(step, place):
        give(step, place.session)
        return _rows(place.session, query)


def made_rows(step: RunUnitTest, place: Workplace) -> Sample:
    """The rows that the statement of a test makes of what is given. Raises EngineError."""
    with scratch(step, place):
        give(step, place.session)
        create(step, place)
        if step.target is None:
            return _rows(place.session, step.sql)
        error = run(place.session, step)
        if error is not None:
            raise error
        return _rows(place.session, f"SELECT * FROM {step.target.relation}")


def _rows(session: SparkSession, query: str) -> Sample:
    return [{name: plain_value(value) for name, value in row.asDict().items()} for row in run_statement(session, query)]
