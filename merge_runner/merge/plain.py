"""The trees of the commonest expressions, `s.column` and `t.column = s.column`, made without a parser.

They are most of a MERGE, and sqlglot takes ten times as long for them. A test holds these trees against sqlglot's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from merge_runner.merge.syntax.sql import Sql

if TYPE_CHECKING:
    from sqlglot import exp

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


_KNOWN: dict[str, tuple[exp.Expr | None]] = {}
"""The trees by their texts: the same few are in many statements. No caller may change them."""
_MOST_KNOWN = 4096


def plain_tree(sql: Sql, start: int, stop: int) -> exp.Expr | None:
    """The tree of the tokens [start, stop) where they are such an expression in unquoted names, else None."""
    if stop - start not in (3, 7):
        return None
    text = sql.text[sql.tokens[start].start : sql.tokens[stop - 1].end]
    known = _KNOWN.get(text)
    if known is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[text] = (_column(sql, start, start) if stop - start == 3 else _comparison(sql, start),)
    return known[0]


def _comparison(sql: Sql, start: int) -> exp.Expr | None:
    kind = _comparisons().get(sql.tokens[start + 3].key)
    if kind is None:
        return None
    left, right = _column(sql, start, start), _column(sql, start + 4, start)
    return None if left is None or right is None else kind(this=left, expression=right)


def _column(sql: Sql, i: int, start: int) -> exp.Column | None:
    from sqlglot import exp

    if sql.tokens[i + 1].key != ".":
        return None
    table, column = sql.word(i), sql.word(i + 2)
    if not _WORD.match(table) or not _WORD.match(column):
        return None
    if table.upper() in _keywords() or column.upper() in _keywords():
        return None
    return exp.Column(this=_identifier(sql, i + 2, column, start), table=_identifier(sql, i, table, start))


def _identifier(sql: Sql, i: int, word: str, start: int) -> exp.Identifier:
    from sqlglot import exp

    identifier = exp.Identifier(this=word, quoted=False)
    offset = sql.tokens[start].start
    identifier.meta["start"] = sql.tokens[i].start - offset
    identifier.meta["end"] = sql.tokens[i].end - offset - 1
    return identifier


@cache
def _comparisons() -> dict[str, type[exp.Binary]]:
    from sqlglot import exp

    return {"=": exp.EQ, "==": exp.EQ, "<=>": exp.NullSafeEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}


@cache
def _keywords() -> frozenset[str]:
    """Words that sqlglot may take for something else than a name."""
    from merge_runner.merge.dialect import SparkMerge

    parser = SparkMerge.parser_class
    return frozenset(SparkMerge.Tokenizer.KEYWORDS) | frozenset(parser.NO_PAREN_FUNCTION_PARSERS)
