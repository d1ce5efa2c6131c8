"""Tests that look only at what a MERGE has touched: at the partitions and ranges that it was bounded to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.lazy_dataclass import dataclass
from merge_runner.relation import Relation, quote

if TYPE_CHECKING:
    from merge_runner.merge.statement import Clause, MergeStatement
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.pruning.verdict import Bound

TOUCHED = Relation("merge_runner_touched")
"""The common table expression that such a test reads instead of its table."""


@dataclass(frozen=True)
class Touched:
    """What a test looks at: the rows of `relation` within the bounds that the MERGE of `node` had in this run.

    `alias` qualifies the columns of the bounds, which are `columns`: a row that has NULL in one of them may be touched
    too.
    """

    relation: Relation
    node: str
    alias: str
    columns: tuple[str, ...]

    def within(self, test: str, bounds: str | None) -> str:
        """Return the query of a test over TOUCHED as one that runs as it is."""
        return f"WITH {TOUCHED} AS ({self.query(bounds)})\n{test}"

    def query(self, bounds: str | None) -> str:
        """The query of these rows; of all rows where the MERGE had no bounds, or has not run."""
        if bounds is None:
            return f"SELECT * FROM {self.relation}"
        alias = quote(self.alias)
        nulls = "".join(f" OR {alias}.{quote(column)} IS NULL" for column in self.columns)
        return f"SELECT * FROM {self.relation} AS {alias} WHERE ({bounds}){nulls}"


def touched(relation: Relation, node: str, merge: JudgedMerge, bounds: tuple[Bound, ...]) -> Touched | None:
    """What tests of a MERGE look at; None where a row may end outside its bounds: all rows have to be tested then."""
    statement = merge.statement
    if statement.target.qualifier is None or not bounds:
        return None
    if not all(_stays(clause, bound, statement) for bound in bounds for clause in statement.clauses):
        return None
    return Touched(relation, node, statement.target.qualifier, tuple(bound.column for bound in bounds))


def _stays(clause: Clause, bound: Bound, statement: MergeStatement) -> bool:
    """Whether a row that a clause writes has in a bounded column what the bounds are made of, NULL, or what it had."""
    if clause.kind == "not_matched_by_source":
        return False
    if clause.action == "delete":
        return True
    value = " ".join(bound.source.of(statement.text).split())
    if clause.star:
        return _is_source_column(value, bound.column, statement)
    column = bound.column.casefold()
    values = [each.value.text for each in clause.assignments if each.column[-1].casefold() == column]
    if not values:
        return clause.action == "update"
    return all(" ".join(each.split()) == value for each in values)


def _is_source_column(value: str, column: str, statement: MergeStatement) -> bool:
    """Whether the text is the column of the source that `*` writes into the target's column of that name."""
    plain = value.replace("`", "").casefold()
    qualifier = (statement.source.qualifier or "").casefold()
    return plain in (column.casefold(), f"{qualifier}.{column.casefold()}")
