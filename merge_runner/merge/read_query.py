"""Reads the text of a query, such as that of a view, as the queries inside a MERGE are read."""

from __future__ import annotations

from functools import lru_cache

from merge_runner.merge.expression import Reader
from merge_runner.merge.statement import Expr
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.query_span import query_span
from merge_runner.merge.syntax.sql import tokenize
from merge_runner.text import Span


@lru_cache(maxsize=512)
def read_query(text: str) -> Expr:
    """The one query that `text` holds; its tree is None where the text is no query, or cannot be read.

    A view is named by many models, so the last ones are kept. No caller may change the trees.
    """
    try:
        span = query_span(text)
        inner = span.of(text)
        sql = tokenize(inner)
    except MergeSyntaxError:
        return Expr(Span(0, len(text)), text)
    if not sql.tokens:
        return Expr(span, inner)
    reader = Reader(sql, Remarks())
    tree, at = reader.query(0, len(sql.tokens)), reader.stopped
    return Expr(span, inner, tree, Span(span.start + at.start, span.start + at.end) if at is not None else None)


@lru_cache(maxsize=512)
def read_expression(text: str) -> Expr:
    """The expression that `text` is, such as that of a generated column; its tree is None where it cannot be read."""
    span = Span(0, len(text))
    try:
        sql = tokenize(text)
    except MergeSyntaxError:
        return Expr(span, text)
    return Expr(span, text, Reader(sql, Remarks()).expression(0, len(sql.tokens)) if sql.tokens else None)
