"""The rows that a MERGE would insert, update and delete, clause by clause, by queries of the statement's own text.

Which rows those are is as for `dry_count`. An UPDATE shows the rows as they would be, a DELETE as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.merge.dry_run import DryQuery, add_clause_number, add_rows
from merge_runner.engine.merge.statement import RewrittenMerge
from merge_runner.engine.spark.sql import analyse
from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


@dataclass(frozen=True)
class ClauseRows:
    """Some of the rows that one clause changes, with the names of their columns."""

    clause: Clause
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def clause_rows(session: SparkSession, table: Relation, statement: MergeStatement, most: int) -> Iterator[ClauseRows]:
    """Yield up to `most` rows for each clause, in the order of the statement. Raises EngineError."""
    target = session.table(str(table)).schema.names
    source = analyse(session, f"{statement.with_text}SELECT * FROM {statement.source.span.of(statement.text)}").names
    for clause in statement.clauses:
        query, columns = clause_query(table, statement, clause, target, source, most)
        rows = query.run(session, "the rows that the MERGE would change cannot be shown")
        yield ClauseRows(clause, columns, tuple(rows))


def clause_query(
    table: Relation,
    statement: MergeStatement,
    clause: Clause,
    target: Sequence[str],
    source: Sequence[str],
    most: int,
) -> tuple[DryQuery, tuple[str, ...]]:
    """Return the query of the rows that a clause changes, and its columns; those of both tables are given."""
    of_kind = [other for other in statement.clauses if other.kind == clause.kind]
    query = DryQuery(RewrittenMerge(statement.text))
    query.add("", statement.with_span)
    query.add("SELECT ")
    columns = _add_columns(query, table, statement, clause, target, source)
    add_rows(query, table, statement, clause.kind)
    query.add("WHERE ")
    add_clause_number(query, of_kind)
    query.add(f" = {of_kind.index(clause)} LIMIT {most}")
    return query, columns


def _add_columns(
    query: DryQuery,
    table: Relation,
    statement: MergeStatement,
    clause: Clause,
    target: Sequence[str],
    source: Sequence[str],
) -> tuple[str, ...]:
    """Add the columns of the row that the clause writes, or deletes."""
    before = f"{quote(statement.target.alias or table.identifier)}."
    qualifier = statement.source.qualifier
    of_source = "" if qualifier is None else f"{quote(qualifier)}."
    of_star = {name.lower(): f"{of_source}{quote(name)}" for name in source} if clause.star else {}
    assigned = {_column(statement, assignment.column): assignment.value for assignment in clause.assignments}
    values = {name.lower(): value for name, value in assigned.items()}
    of_target = {name.lower() for name in target}
    more = [*source] if clause.star and statement.schema_evolution else []
    names = (*target, *(name for name in (*assigned, *more) if name.lower() not in of_target))
    for at, name in enumerate(names):
        query.add(", " if at else "")
        value = values.get(name.lower())
        if value is None:
            current = "NULL" if clause.action == "insert" else f"{before}{quote(name)}"
            query.add(of_star.get(name.lower(), current))
        elif value.text.strip().upper() == "DEFAULT":
            query.add(string_literal("DEFAULT"))
        else:
            query.add("(", value.span)
            query.add(")")
        query.add(f" AS {quote(name)}\n")
    return names


def _column(statement: MergeStatement, parts: Sequence[str]) -> str:
    """Return the name of an assigned column without the target's; that of a field has dots."""
    qualifier = statement.target.qualifier
    qualified = len(parts) > 1 and qualifier is not None and parts[0].lower() == qualifier.lower()
    return ".".join(parts[1:] if qualified else parts)
