"""Checks an expression against Spark's grammar, and cuts a condition into its conjuncts."""

from __future__ import annotations

from merge_runner.merge.syntax.level import Level
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.query import is_query
from merge_runner.merge.syntax.sql import Sql


def check(sql: Sql, start: int, stop: int, remarks: Remarks) -> None:
    """Walks the expression of the tokens [start, stop) and adds to `remarks`.

    Raises MergeSyntaxError where Spark's parser would stop.
    """
    todo = [(start, stop, False)]
    while todo:
        first, last, aliased = todo.pop()
        level = Level(sql, first, last, remarks, aliased=aliased)
        level.run()
        todo += level.todo


def conjuncts(sql: Sql, start: int, stop: int) -> list[tuple[int, int]]:
    """The ranges that AND joins in the (checked) condition [start, stop).

    Parentheses are opened unless they hold an OR at their top, a list or a query.
    """
    found: list[tuple[int, int]] = []
    todo = [(start, stop)]
    while todo:
        first, last = todo.pop()
        level = Level(sql, first, last, Remarks())
        level.run()
        if level.has_or:
            found.append((first, last))
        elif level.ands:
            todo += reversed(list(zip([first, *(i + 1 for i in level.ands)], [*level.ands, last], strict=True)))
        elif _may_open(sql, first, last):
            todo.append((first + 1, last - 1))
        else:
            found.append((first, last))
    return found


def _may_open(sql: Sql, start: int, stop: int) -> bool:
    first, last = start + 1, stop - 1
    if sql.key(start) != "(" or sql.partner[start] != last or is_query(sql, first, last):
        return False
    if any(sql.key(i) == "," for i in sql.top(first, last)):
        return False
    level = Level(sql, first, last, Remarks())
    level.run()
    return not level.has_or
