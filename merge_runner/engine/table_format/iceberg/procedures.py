"""Calls of Iceberg's procedures, whose arguments are text: names and predicates are quoted as Spark's literals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.sql import run_statement
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def call_procedure(session: SparkSession, table: Relation, procedure: str, **arguments: str) -> Row:
    """Calls `<catalog>.system.<procedure>` on a table; `arguments` are SQL. Gives its one row. Raises EngineError."""
    all_arguments = {"table": string_literal(str(table)), **arguments}
    words = ", ".join(f"{name} => {value}" for name, value in all_arguments.items())
    return run_statement(session, f"CALL {quote(_catalog(session, table))}.system.{procedure}({words})")[0]


def _catalog(session: SparkSession, table: Relation) -> str:
    if table.catalog is not None:
        return table.catalog
    with engine_errors():
        return session.catalog.currentCatalog()
