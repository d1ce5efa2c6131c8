"""What a MERGE inserts, as a query: its analysed columns are those of a target that is still to be created."""

from __future__ import annotations

from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.relation import quote


def insert_shape(statement: MergeStatement) -> str | None:
    """A query over the statement's source with the columns that it inserts; None where it inserts nothing.

    Of several INSERT clauses the one with the most columns counts, `INSERT *` before all others. The query is made of
    the author's own text, for analysis alone: it is never run.
    """
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    if not inserts:
        return None
    clause = next((clause for clause in inserts if clause.star), None) or max(
        inserts, key=lambda clause: len(clause.assignments)
    )
    ctes = statement.text[statement.span.start : statement.ctes[-1].span.end] + "\n" if statement.ctes else ""
    return f"{ctes}SELECT {_columns(statement, clause)}\nFROM {statement.source.span.of(statement.text)}"


def _columns(statement: MergeStatement, clause: Clause) -> str:
    if clause.star:
        return "*"
    return ", ".join(
        f"{assignment.value.text} AS {quote(assignment.column[-1])}"
        for assignment in clause.assignments
        if assignment.value.text.strip().upper() != "DEFAULT"
    )
