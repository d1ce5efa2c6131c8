"""Counts the rows that a MERGE would change, by a query that is made of the statement's own text.

What a MERGE does with a row, on Delta 4.4.0 and Iceberg 1.12.0 with Spark 4.1: a pair of rows is matched where ON is
true, and not where it is NULL; of the clauses of its kind the first one counts whose condition is true; without any the
row stays as it is. A condition of NOT MATCHED sees the source alone, one of NOT MATCHED BY SOURCE the target alone: an
anti join shows just that. Several source rows for one target row are an error of the MERGE, unless an unconditional
DELETE is its only WHEN MATCHED: then the row is deleted once. `tests/engine/merge/test_dry_run.py` holds it to both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_statement
from merge_runner.merge.splice import origin
from merge_runner.merge.statement import Action, Clause, ClauseKind, MergeStatement
from merge_runner.relation import Relation, quote
from merge_runner.text import Span

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from merge_runner.engine.merge.statement import RewrittenMerge
    from merge_runner.project.schema.expect_merge import ExpectMerge


@dataclass(frozen=True)
class Figures:
    """Rows of the source, of the target before, and those that the MERGE changes; None: not asked for."""

    source: int | None = None
    target: int | None = None
    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None


@dataclass
class DryQuery:
    """A query: text that is put together: of the author's own pieces it is known where they come from."""

    rewritten: RewrittenMerge
    text: str = ""
    own: list[tuple[int, str, Span]] = field(default_factory=list)

    def add(self, text: str, span: Span | None = None) -> None:
        """Add text, then a span of the author's statement and a line break, which ends a line comment in it."""
        self.text += text
        if span is not None:
            piece = self.rewritten.piece(span)
            self.own.append((len(self.text), piece, span))
            self.text += f"{piece}\n"

    def run(self, session: SparkSession, failed: str) -> list[Row]:
        """Return the rows. Raises EngineError, at the author's place; `failed` says what could not be done."""
        try:
            return run_statement(session, self.text)
        except EngineError as error:
            if error.statement == self.text and error.offset is not None:
                error.statement, error.offset = self.rewritten.text, self.origin(error.offset)
            error.message = f"{failed}: {error.message}"
            raise

    def origin(self, offset: int) -> int | None:
        """The offset in the author's statement of one in the query."""
        for start, piece, span in self.own:
            if start <= offset < start + len(piece):
                offset_in_piece = origin(self.rewritten.edits_in(span), offset - start)
                return None if offset_in_piece is None else span.start + offset_in_piece
        return None


def dry_count(
    session: SparkSession, table: Relation, statement: MergeStatement, rewritten: RewrittenMerge, limits: ExpectMerge
) -> Figures:
    """Return the figures that the limits are about, of the statement as it will run (`rewritten`). Nothing is written.

    Raises EngineError, at the place of the author's text where the engine names one.
    """
    query = counting_query(table, statement, rewritten, limits)
    if query is None:
        return Figures()
    failed = "the rows that the MERGE would change cannot be counted, and it did not run"
    rows = {row["what"]: row for row in query.run(session, failed)}
    of_kinds = [row for what, row in rows.items() if what not in ("source", "target")]
    inserted, updated, deleted = (sum(row[action] for row in of_kinds) for action in ("insert", "update", "delete"))
    return Figures(
        source=rows["source"]["n"] if "source" in rows else None,
        target=rows["target"]["n"] if "target" in rows else None,
        inserted=inserted if limits.about_inserts else None,
        updated=updated if limits.about_updates else None,
        deleted=deleted if limits.about_deletes else None,
    )


def deletes_once(statement: MergeStatement) -> bool:
    """Whether an unconditional DELETE is the only WHEN MATCHED, so that several matches of a row are no error."""
    matched = _clauses(statement, "matched")
    return len(matched) == 1 and matched[0].action == "delete" and matched[0].condition is None


def counting_query(
    table: Relation, statement: MergeStatement, rewritten: RewrittenMerge, limits: ExpectMerge
) -> DryQuery | None:
    """Return the query that `dry_count` runs: a row for each thing that is counted; None where nothing is."""
    limited: dict[Action, bool] = {
        "insert": limits.about_inserts,
        "update": limits.about_updates,
        "delete": limits.about_deletes,
    }
    query = DryQuery(rewritten)
    if statement.with_span is not None:
        query.add("", statement.with_span)
    between = ""
    if limits.min_source_rows is not None:
        query.add(
            "SELECT 'source' AS what, count(*) AS n, 0 AS insert, 0 AS update, 0 AS delete FROM ", statement.source.span
        )
        between = "UNION ALL\n"
    if limits.about_share or limits.about_inserts:
        query.add(
            f"{between}SELECT 'target' AS what, count(*) AS n, 0 AS insert, 0 AS update, 0 AS delete FROM {table}\n"
        )
        between = "UNION ALL\n"
    kinds = [kind for kind in _KINDS if any(limited[clause.action] for clause in _clauses(statement, kind))]
    if {"matched", "not_matched"} <= {*kinds} and _is_one_join(statement):
        query.add(between)
        _count_in_one_join(query, table, statement)
        between = "UNION ALL\n"
        kinds = kinds[2:]
    for kind in kinds:
        query.add(between)
        _count(query, table, statement, kind, _clauses(statement, kind))
        between = "UNION ALL\n"
    return query if between else None


_KINDS: tuple[ClauseKind, ...] = ("matched", "not_matched", "not_matched_by_source")
_MATCHED = "__merge_runner_matched"


def _clauses(statement: MergeStatement, kind: ClauseKind) -> list[Clause]:
    return [clause for clause in statement.clauses if clause.kind == kind]


def _is_one_join(statement: MergeStatement) -> bool:
    """Whether one join gives the matched and the unmatched rows of the source, which is evaluated once then.

    A condition of NOT MATCHED may name a column that the target has as well.
    """
    conditions = [clause.condition for clause in _clauses(statement, "not_matched")]
    return statement.target.alias is not None and conditions == [None] and not deletes_once(statement)


def _count_in_one_join(query: DryQuery, table: Relation, statement: MergeStatement) -> None:
    """Add the query of the rows that the clauses change for rows of the source, where `_is_one_join`."""
    clauses = [*_clauses(statement, "matched"), *_clauses(statement, "not_matched")]
    query.add(f"SELECT 'of_source' AS what, 0 AS n, {_counts(clauses)} FROM (\nSELECT ")
    query.add(f"CASE WHEN {_MATCHED} IS NULL THEN {len(clauses) - 1} ELSE ")
    add_clause_number(query, clauses[:-1])
    query.add(" END AS clause FROM ", statement.source.span)
    alias = quote(statement.target.alias or "")
    query.add(f"LEFT JOIN (SELECT *, true AS {_MATCHED} FROM {table}) AS {alias}\nON ", statement.on_span)
    query.add(")\n")


def _count(
    query: DryQuery, table: Relation, statement: MergeStatement, kind: ClauseKind, clauses: list[Clause]
) -> None:
    """Adds the query of the rows that the clauses of one kind change."""
    query.add(f"SELECT '{kind}' AS what, 0 AS n, {_counts(clauses)} FROM (\nSELECT ")
    add_clause_number(query, clauses)
    query.add(" AS clause ")
    add_rows(query, table, statement, kind)
    query.add(")\n")


def _counts(clauses: Sequence[Clause]) -> str:
    """The columns that count what clauses do, by their numbers."""
    counts = []
    for action in ("insert", "update", "delete"):
        numbers = [str(number) for number, clause in enumerate(clauses) if clause.action == action]
        counted = f"count_if(clause IN ({', '.join(numbers)}))" if numbers else "0"
        counts.append(f"{counted} AS {action}")
    return ", ".join(counts)


def add_clause_number(query: DryQuery, clauses: Sequence[Clause]) -> None:
    """Add the expression for the number of the clause, of one kind, that counts for a row; NULL: none does."""
    query.add("CASE")
    for number, clause in enumerate(clauses):
        if clause.condition is None:
            query.add(f" WHEN true THEN {number}\n")
        else:
            query.add(" WHEN (", clause.condition.span)
            query.add(f") IS TRUE THEN {number}\n")  # CASE does not take a bare NULL
    query.add(" END")


def add_rows(query: DryQuery, table: Relation, statement: MergeStatement, kind: ClauseKind) -> None:
    """Add FROM with the rows that clauses of one kind see: pairs, those of the source, or those of the target."""
    alias = statement.target.alias
    target = f"{table} AS {quote(alias)}" if alias is not None else f"{table}"
    once = kind == "matched" and deletes_once(statement)
    if kind == "not_matched":
        query.add("FROM ", statement.source.span)
        query.add(f"LEFT ANTI JOIN {target}\n")
    else:
        join = "LEFT ANTI JOIN" if kind == "not_matched_by_source" else "LEFT SEMI JOIN" if once else "JOIN"
        query.add(f"FROM {target}\n{join} ", statement.source.span)
    query.add("ON ", statement.on_span)
