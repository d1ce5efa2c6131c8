"""Checks an expression against Spark's grammar, and cuts a condition into its conjuncts."""

from __future__ import annotations

from merge_runner.merge.syntax.level import Level
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.query import check_patterns, is_query
from merge_runner.merge.syntax.query_clauses import query_parts
from merge_runner.merge.syntax.sql import Sql


def check(sql: Sql, start: int, stop: int, remarks: Remarks) -> None:
    """Walks the expression of the tokens [start, stop) and adds to `remarks`.

    Raises MergeSyntaxError where Spark's parser would stop.
    """
    for first, last in _expressions(sql, [(start, stop, False)], remarks):
        check_query(sql, first, last, remarks)


def check_query(sql: Sql, start: int, stop: int, remarks: Remarks) -> None:
    """Walks the query of the tokens [start, stop), as far as its clauses can be distinguished; adds to `remarks.forms`.

    Raises MergeSyntaxError where Spark's parser would stop.
    """
    check_patterns(sql, start, stop)
    todo = [(start, stop)]
    while todo:
        parts = query_parts(sql, *todo.pop())
        todo += parts.queries
        remarks.forms.extend(parts.forms)
        todo += _expressions(sql, parts.expressions, Remarks())


def _expressions(sql: Sql, todo: list[tuple[int, int, bool]], remarks: Remarks) -> list[tuple[int, int]]:
    """Walks expressions, each with whether an alias may end it; the queries inside them."""
    queries: list[tuple[int, int]] = []
    while todo:
        first, last, aliased = todo.pop()
        level = Level(sql, first, last, remarks, aliased=aliased)
        level.run()
        todo += level.todo
        queries += level.queries
    return queries


def conjuncts(sql: Sql, start: int, stop: int) -> list[tuple[int, int]]:
    """The ranges that AND joins in the (checked) condition [start, stop).

    Parentheses are opened unless they hold an OR at their top, a list or a query.
    """
    ranges: list[tuple[int, int]] = []
    todo = [(start, stop)]
    while todo:
        first, last = todo.pop()
        level = Level(sql, first, last, Remarks())
        level.run()
        if level.has_or:
            ranges.append((first, last))
        elif level.ands:
            todo += reversed(list(zip([first, *(i + 1 for i in level.ands)], [*level.ands, last], strict=True)))
        elif _may_open(sql, first, last):
            todo.append((first + 1, last - 1))
        else:
            ranges.append((first, last))
    return ranges


def _may_open(sql: Sql, start: int, stop: int) -> bool:
    first, last = start + 1, stop - 1
    if sql.key(start) != "(" or sql.partner[start] != last or is_query(sql, first, last):
        return False
    if any(sql.key(i) == "," for i in sql.top(first, last)):
        return False
    level = Level(sql, first, last, Remarks())
    level.run()
    return not level.has_or
