"""Which text sqlglot 30.30 parses without a complaint into something else than Spark 4.1 reads."""

from __future__ import annotations

from merge_runner.merge.syntax.sql import Sql


def is_misread(sql: Sql, i: int, stop: int) -> bool:
    """Whether such a text begins at token i, a word, name or string, of an expression that ends in front of `stop`."""
    if i + 1 >= stop:
        return False
    kind, key = sql.kind(i), sql.key(i)
    if kind == "string":  # `r'it''s'` is two strings, of which sqlglot makes one
        return sql.kind(i + 1) == "string" and "r" in (sql.word(i)[0].lower(), sql.word(i + 1)[0].lower())
    if key == "VALUES":  # rows without parentheses: the alias would go into the last value
        return sql.kind(i + 1) in ("number", "string")
    if key == "STREAM":  # sqlglot takes it for the name of a table, or for Databricks' prefix of one
        return sql.kind(i + 1) in ("word", "name") and sql.key(i - 1) in ("FROM", "JOIN", ",")
    if sql.key(i + 1) == "(" and sql.word(i).upper() == "IDENTIFIER":
        return _is_computed_part(sql, i, stop)
    return False


def _is_computed_part(sql: Sql, i: int, stop: int) -> bool:
    """IDENTIFIER(…) as one part of a name, or as the name of a function."""
    close = sql.partner[i + 1]
    return sql.kind(i) == "name" or (close + 1 < stop and sql.key(close + 1) in (".", "("))
