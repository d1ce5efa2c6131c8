"""What a MERGE inserts, as a query: its analysed columns are those of a target that is still to be created."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.relation import quote
from merge_runner.text import Span


@dataclass(frozen=True)
class Shape:
    """A query made of pieces of a statement, for analysis alone: it is never run.

    `pieces` are pairs of spans of equal length: one in `query`, and that of the same text in the statement.
    """

    query: str
    pieces: tuple[tuple[Span, Span], ...]

    def origin(self, offset: int) -> int | None:
        """The offset in the statement of an offset in the query; None where the author did not write it."""
        for own, theirs in self.pieces:
            if own.start <= offset < own.end:
                return theirs.start + offset - own.start
        return None


def insert_shape(statement: MergeStatement) -> Shape | None:
    """A query over the statement's source with the columns that it inserts; None where it inserts nothing.

    Of several INSERT clauses the one with the most columns counts, `INSERT *` before all others.
    """
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    if not inserts:
        return None
    clause = next((clause for clause in inserts if clause.star), None) or max(
        inserts, key=lambda clause: len(clause.assignments)
    )
    pieces: list[str | Span] = []
    if statement.with_span is not None:
        pieces += [statement.with_span, "\n"]
    pieces += ["SELECT ", *_columns(clause), "\nFROM ", statement.source.span]
    return _join(statement.text, pieces)


def _columns(clause: Clause) -> list[str | Span]:
    if clause.star:
        return ["*"]
    columns: list[str | Span] = []
    for assignment in clause.assignments:
        if assignment.value.text.strip().upper() != "DEFAULT":
            columns += [", " if columns else "", assignment.value.span, f" AS {quote(assignment.column[-1])}"]
    return columns


def _join(text: str, pieces: list[str | Span]) -> Shape:
    query = ""
    origins = []
    for piece in pieces:
        if isinstance(piece, Span):
            origins.append((Span(len(query), len(query) + piece.end - piece.start), piece))
            query += piece.of(text)
        else:
            query += piece
    return Shape(query, tuple(origins))
