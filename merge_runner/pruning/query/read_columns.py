"""Which columns of a table statements may read: those that are named anywhere in their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from merge_runner.merge.statement import Expr
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.lexer import lex

if TYPE_CHECKING:
    from sqlglot import exp

Meant = Callable[[tuple[str, ...]], bool]
"""Whether the unquoted parts of a name in a query mean the table, or may."""

_WORD = re.compile(r"\w+")
_WHOLE_ROWS = frozenset(("identifier", "natural", "pivot", "unpivot", "transform", "table"))
"""Words of syntax that reads columns without their names, or by a name that is put together."""


def read_columns(texts: Sequence[str], queries: Sequence[Expr], is_table: Meant) -> Callable[[str], bool] | None:
    """Return a function that says whether texts may read a column of a table; None: they may read all of them.

    `queries` are those of the texts that name tables, views included. A name in a string counts as one in the query.
    """
    try:
        tokens = [text[token.start : token.end] for text in texts for token in lex(text)]
    except MergeSyntaxError:
        return None
    words = {word.casefold() for token in tokens for word in _WORD.findall(token)}
    # A quoted name may be a regular expression (the conf `spark.sql.parser.quotedRegexColumnNames`).
    if words & _WHOLE_ROWS or any(token.startswith("`") and not _WORD.fullmatch(token[1:-1]) for token in tokens):
        return None
    if any(query.expression is None or _reads_whole_rows(query.expression, is_table) for query in queries):
        return None

    def is_read(column: str) -> bool:
        return column.casefold() in words or _WORD.fullmatch(column) is None

    return is_read


def _reads_whole_rows(tree: exp.Expr, is_table: Meant) -> bool:
    """Whether a query has `*` over the table itself, or names it elsewhere than in FROM."""
    from sqlglot import exp

    starred = set()
    for star in tree.find_all(exp.Star):
        if isinstance(star.parent, exp.Count):
            continue
        select = star.find_ancestor(exp.Select)
        if select is None:
            return True
        starred.add(id(select))
    for table in tree.find_all(exp.Table):
        if not is_table(tuple(part.name for part in table.parts)):
            continue
        clause = table.parent
        query = clause.parent if isinstance(clause, (exp.From, exp.Join)) else None
        if not isinstance(query, exp.Select) or id(query) in starred:
            return True
    return False
