"""Forms of newer lines of Spark: the changes of a table in FROM, and the options after a table."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.formats.grammar import Form
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.keywords import words
from merge_runner.merge.syntax.sql import Sql
from merge_runner.text import Span

_VERSIONS = words("VERSION SYSTEM_VERSION")
_TIMES = words("TIMESTAMP SYSTEM_TIME")
_TYPES_OF_TIME = words("DATE TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ")
_BOUNDS = words("INCLUSIVE EXCLUSIVE")
_TRUTH = words("TRUE FALSE")


@dataclass(frozen=True)
class FormUse:
    """Where a text uses a form that only newer lines of Spark take."""

    form: Form
    span: Span


def begins_changes(sql: Sql, i: int) -> bool:
    """Return whether the words after a table, from token i on, can only be those of its changes."""
    return sql.key(i) == "CHANGES" and sql.key(i + 1) == "FROM" and sql.key(i + 2) in _VERSIONS | _TIMES


def changes_clauses(sql: Sql, start: int, stop: int) -> list[tuple[int, int]]:
    """Return the ranges of the tokens of each clause `CHANGES FROM …` in [start, stop)."""
    if not sql.names_changes:
        return []
    ends = ((i, changes_end(sql, i, stop)) for i in range(start, stop))
    return [(i, end) for i, end in ends if end is not None]


def changes_end(sql: Sql, i: int, stop: int) -> int | None:
    """Return the index after the clause `CHANGES FROM …` that begins at token i; None where none begins.

    Spark 4.2: `CHANGES FROM VERSION a [TO VERSION b] [WITH (options)]`, with TIMESTAMP for VERSION, and INCLUSIVE or
    EXCLUSIVE after each bound. A bound is a literal: Spark's parser fails on any other expression. That distinguishes
    the clause from an alias: `SELECT a changes FROM version`.
    """
    if not begins_changes(sql, i) or i == 0:
        return None
    if sql.kind(i - 1) not in ("word", "name") and sql.key(i - 1) != ")":
        return None
    kinds = _VERSIONS if sql.key(i + 2) in _VERSIONS else _TIMES
    end = _bound_end(sql, i + 2, stop)
    if end is None:
        return None
    if sql.key(end) == "TO" and sql.key(end + 1) in kinds:
        end = _bound_end(sql, end + 1, stop) or end
    if sql.key(end) == "WITH" and sql.key(end + 1) == "(" and end < stop:
        end = sql.partner[end + 1] + 1
    return end


def _bound_end(sql: Sql, i: int, stop: int) -> int | None:
    """Return the index after `VERSION 3` or `TIMESTAMP '2024-01-01' EXCLUSIVE`, which begin at token i."""
    at = i + 1
    if sql.key(i) in _TIMES and sql.key(at) in _TYPES_OF_TIME:
        at += 1
    first = at
    if sql.kind(at) == "number" and sql.key(i) in _VERSIONS:
        at += 1
    while at < stop and (sql.kind(at) == "string" or sql.is_filled(at)):
        at += 1
    if at == first or at > stop:
        return None
    return at + 1 if at < stop and sql.key(at) in _BOUNDS else at


def begins_options(sql: Sql, i: int) -> bool:
    """Return whether options in parentheses begin at token i: `WITH ('key' = 'value')`."""
    return sql.key(i) == "WITH" and sql.key(i + 1) == "(" and sql.partner[i + 1] > i + 1


def options_end(sql: Sql, i: int) -> int:
    """Return the index after the options that begin at token i.

    Raises MergeSyntaxError for an option without a key or value.
    """
    close = sql.partner[i + 1]
    for first, last in sql.split(i + 2, close) or [(i + 2, close)]:
        if not _is_option(sql, first, last):
            whole = sql.span(first, last) if first < last else sql.span(i + 1, close + 1)
            raise MergeSyntaxError(
                f'"{whole.of(sql.text)}" is no option of a table', whole, "write WITH ('key' = 'value')"
            )
    return close + 1


def _is_option(sql: Sql, start: int, stop: int) -> bool:
    """Return whether the tokens [start, stop) are a key and a literal, with or without `=`."""
    i = start + 1
    if start >= stop or sql.kind(start) not in ("word", "name", "string"):
        return sql.is_filled(start) and stop == start + 1
    while sql.key(i) == "." and i + 1 < stop:
        i += 2
    i += i < stop and sql.key(i) == "="
    if i >= stop:
        return sql.is_filled(start) and stop == start + 1
    if all(sql.kind(at) == "string" or sql.is_filled(at) for at in range(i, stop)):
        return True
    return i + 1 == stop and (sql.kind(i) == "number" or sql.key(i) in _TRUTH)
