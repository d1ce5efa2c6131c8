"""Values that a clause does not give: columns of the target that take no NULL, and get one or nothing.

Run on Spark 4.1.4: Iceberg refuses the statement, Delta 4.4.0 each row (`DELTA_NOT_NULL_CONSTRAINT_VIOLATED`,
`NOT_NULL_ASSERT_VIOLATION`), so that a MERGE without such a row passes there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from merge_runner.merge.statement import Clause, Expr, MergeStatement
from merge_runner.merge.syntax.placeholder import has_placeholder
from merge_runner.pruning.judge.insert_consistency import source_terms
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.logic.canonical import term
from merge_runner.pruning.logic.constant_value import NULL
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.predicate.tautology import assigned
from merge_runner.pruning.query.source import SourceFacts


@dataclass(frozen=True)
class MissingValue:
    """A column that takes no NULL: `null` is what writes one there; None: INSERT does not name the column."""

    clause: Clause
    column: str
    null: Expr | None


def missing_values(
    statement: MergeStatement, layout: TableLayout, not_null: Collection[str], scope: Scope, source: SourceFacts
) -> Iterator[MissingValue]:
    """Return the values that clauses lack, of the columns `not_null` (case folded) that no NULL may be written into.

    A column that the table computes or fills is none of them.
    """
    columns = [column for column in layout.columns or () if column.name.casefold() in not_null]
    for clause in statement.clauses:
        if clause.action == "insert" and not clause.partial:
            for column in columns:
                if not _is_filled(column) and _is_left_out(clause, column, statement, scope, source):
                    yield MissingValue(clause, column.name, None)
        for assignment in clause.assignments:
            path, tree = assigned(assignment, scope), assignment.value.expression
            if len(path) > 1 or tree is None or path[0] not in not_null:
                continue
            if term(tree, source_terms(scope)) == NULL:
                yield MissingValue(clause, path[0], assignment.value)


def _is_filled(column: TableColumn) -> bool:
    return column.filled or column.generated is not None or column.identity is not None


def _is_left_out(
    clause: Clause, column: TableColumn, statement: MergeStatement, scope: Scope, source: SourceFacts
) -> bool:
    """Whether a clause does not name a column; `*` names those of the source where it need not have all."""
    if clause.star:
        return statement.schema_evolution and source.has_column(column.name) is False
    names = [assigned(assignment, scope)[0] for assignment in clause.assignments]
    return column.name.casefold() not in names and not any(map(has_placeholder, names))
