"""Expressions of a MERGE as values, and what they give for a row, by SQL's three-valued logic in plain Python.

A value is an int, str, bool, Decimal or date; NULL and UNKNOWN are None. Nothing here knows merge_runner or Spark.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from math import fmod

Value = int | str | bool | Decimal | date | None
Row = Mapping[str, Value]
Rows = Mapping[str, Row | None]
"""The row of each side by its letter: t the target's, s the source's. None: there is no such row."""


@dataclass(frozen=True)
class Literal:
    """A constant. `as_text`: it is spelled as a string, which takes the type of what it is compared with."""

    value: Value
    as_text: bool = False


@dataclass(frozen=True)
class Column:
    """A column of one side."""

    side: str
    name: str


@dataclass(frozen=True)
class Call:
    """An operator or function of FUNCTIONS."""

    name: str
    args: tuple[Expression, ...]


Expression = Literal | Column | Call


def evaluate(expression: Expression, rows: Rows) -> Value:
    """What the expression gives; a column of a side without a row is NULL."""
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, Column):
        row = rows[expression.side]
        return None if row is None else row[expression.name]
    return FUNCTIONS[expression.name](*(evaluate(each, rows) for each in expression.args))


def holds(condition: Expression | None, rows: Rows) -> bool:
    """Whether a condition is TRUE, and neither FALSE nor UNKNOWN. None: there is no condition."""
    return condition is None or evaluate(condition, rows) is True


def _and(*values: Value) -> Value:
    return False if False in values else None if None in values else True


def _or(*values: Value) -> Value:
    return True if True in values else None if None in values else False


def _strict(function: Callable[..., Value]) -> Callable[..., Value]:
    """NULL if any argument is NULL."""
    return lambda *values: None if None in values else function(*values)


def _in(value: Value, *values: Value) -> Value:
    """`value = a OR value = b OR …`."""
    return _or(*(_strict(operator.eq)(value, each) for each in values))


def _case(*values: Value) -> Value:
    """Condition, value, condition, value, …, the value of ELSE."""
    for condition, value in zip(values[:-1:2], values[1:-1:2], strict=True):
        if condition is True:
            return value
    return values[-1]


_not = _strict(operator.not_)

FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "and": _and,
    "or": _or,
    "not": _not,
    "is null": lambda value: value is None,
    "is not null": lambda value: value is not None,
    "is true": lambda value: value is True,
    "is not true": lambda value: value is not True,
    "<=>": lambda one, other: one == other,
    "=": _strict(operator.eq),
    "<>": _strict(operator.ne),
    "<": _strict(operator.lt),
    "<=": _strict(operator.le),
    ">": _strict(operator.gt),
    ">=": _strict(operator.ge),
    "between": lambda value, low, high: _and(_strict(operator.ge)(value, low), _strict(operator.le)(value, high)),
    "in": _in,
    "not in": lambda value, *values: _not(_in(value, *values)),
    "starts with": _strict(str.startswith),
    "+": _strict(operator.add),
    "-": _strict(operator.sub),
    "*": _strict(operator.mul),
    "%": _strict(lambda one, other: int(fmod(one, other))),  # the sign of the dividend
    "date_add": _strict(lambda day, days: day + timedelta(days)),
    "concat": _strict(operator.add),
    "upper": _strict(str.upper),
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
    "least": lambda *values: min((value for value in values if value is not None), default=None),
    "case": _case,
}
