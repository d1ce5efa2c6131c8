"""What is known of the rows that USING gives, and of the columns that a first MERGE inserts."""

from __future__ import annotations

from sqlglot import exp

from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.predicate.expression_type import Typed, expression_type
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.query_facts import VisibleQueries
from merge_runner.pruning.query.relation import ReadSelect
from merge_runner.pruning.query.source import Lookup, SourceFacts


def source_facts(statement: MergeStatement, lookup: Lookup, selects: list[ReadSelect] | None = None) -> SourceFacts:
    """Return what is known of the rows of USING, through the statement's CTEs and the views that it names.

    Each SELECT of the statement that is read on the way is added to `selects`.
    """
    source = statement.source
    queries = VisibleQueries(lookup, selects=selects)
    for cte in statement.ctes:
        queries = queries.with_cte(cte.name, cte.query.expression, cte.columns, recursive=statement.recursive)
    if source.query is not None:
        return queries.facts(source.query.expression)
    return queries.table(source.parts)


def inserted_columns(statement: MergeStatement, facts: SourceFacts) -> tuple[TableColumn, ...] | None:
    """The columns of a target that is created by its first MERGE; None where they are not all known.

    They are those of `insert_shape`; whether they take NULL is up to the table and stays unknown.
    """
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    if not inserts or any(clause.partial for clause in inserts):
        return None
    if any(clause.star for clause in inserts):
        return tuple(TableColumn(c.name, c.data_type) for c in facts.columns or ()) if facts.names_known else None
    scope = Scope.of(statement, TableLayout(columns=(), complete=True), facts.columns)

    def typed(node: exp.Expr) -> Typed:
        reference = scope.reference(node)
        if reference is None or reference.side != "source" or len(reference.path) > 1:
            return Typed()
        column = facts.column(reference.column)
        return Typed(column.data_type, column.nullable) if column else Typed()

    columns = []
    for assignment in max(inserts, key=lambda clause: len(clause.assignments)).assignments:
        if assignment.value.text.strip().upper() == "DEFAULT":
            continue
        tree = assignment.value.expression
        data_type = expression_type(tree, typed).data_type if tree is not None else None
        columns.append(TableColumn(assignment.column[-1], data_type))
    return tuple(columns)
