"""Compares conditions by their words: blanks, comments and the case of names do not count."""

from __future__ import annotations

from merge_runner.merge.expression import unquote
from merge_runner.merge.statement import Expr
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.grammar import conjuncts
from merge_runner.merge.syntax.sql import Sql, tokenize

Words = tuple[tuple[str, str], ...]
"""The tokens of a condition as kind and text; equal words mean the same."""


def conjunct_words(expr: Expr) -> frozenset[Words]:
    """The words of each condition that an expression joins by AND."""
    sql = tokenize(expr.text)
    try:
        ranges = conjuncts(sql, 0, len(sql.tokens))
    except MergeSyntaxError:  # read by itself, a word may be read otherwise than in its clause
        ranges = [(0, len(sql.tokens))]
    return frozenset(_words(sql, start, stop) for start, stop in ranges)


def _words(sql: Sql, start: int, stop: int) -> Words:
    found = []
    for i in range(start, stop):
        kind, word = sql.kind(i), sql.word(i)
        if kind in ("word", "name"):
            kind, word = "name", unquote(word).casefold()
        found.append((kind, word))
    return tuple(found)
