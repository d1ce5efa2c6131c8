"""What a comparison with one value says about a comparison with another; None where the two cannot be compared."""

from __future__ import annotations

from datetime import timedelta

from merge_runner.pruning.logic import constant_value
from merge_runner.pruning.logic.constant_value import Lit
from merge_runner.pruning.logic.fold import holds
from merge_runner.pruning.logic.term import Term, is_constant
from merge_runner.pruning.logic.time_units import order_of

MANY = 100
"""Lists of more values are looked up as a whole, not compared value by value."""


def is_among(value: Term, values: tuple[Term, ...]) -> bool:
    """Return whether a value equals one of a list that is not too long."""
    return len(values) <= MANY and any(order_of(value, other) == 0 for other in values)


def is_perhaps_among(value: Term, values: tuple[Term, ...]) -> bool:
    """Return whether a value equals one of a list in a column of numbers, as 9 equals '9': not in each one of texts."""
    if not isinstance(value, Lit) or len(values) > MANY:
        return False
    number = constant_value.cast(value, "decimal")
    mixed = (other for other in values if isinstance(other, Lit) and other.kind != value.kind)
    return number is not None and any(constant_value.cast(other, "decimal") == number for other in mixed)


def follows(operator: str, value: Term, goal: str, other: Term) -> bool | None:
    """Return whether `x operator value` makes `x goal other` true; None where the two values cannot be compared."""
    if not _may_follow(operator, goal):
        return False
    order = order_of(value, other)
    if order is None:
        return None if is_constant(value) and is_constant(other) else False
    if operator == "=":
        return holds(goal, order)
    if operator == "<>":
        return order == 0
    beyond = order > 0 if operator in (">", ">=") else order < 0
    if goal == "<>":
        return beyond or (order == 0 and operator in (">", "<"))
    if order == 0:
        return operator == goal or goal in (">=", "<=")
    if not beyond and goal == f"{operator}=" and _is_next(value, other):
        return None  # `x > 4` says `x >= 5` of whole numbers, and of days alike
    return beyond


def _is_next(first: Term, second: Term) -> bool:
    """Whether two constants are no more than a day or a whole number apart."""
    if not isinstance(first, Lit) or not isinstance(second, Lit):
        return False
    if first.kind == second.kind == "number":
        return bool(abs(first.value - second.value) <= 1)
    if first.kind == second.kind == "today":
        return bool(first.value[0] == second.value[0] and abs(first.value[1] - second.value[1]) <= 1)
    if first.moves or second.moves:
        return False
    first_time, second_time = constant_value.cast(first, "timestamp"), constant_value.cast(second, "timestamp")
    return (
        first_time is not None
        and second_time is not None
        and bool(abs(first_time.value - second_time.value) <= timedelta(days=1))
    )


def _may_follow(operator: str, goal: str) -> bool:
    if operator == "=":
        return True
    if operator == "<>":
        return goal == "<>"
    return goal == "<>" or goal[0] == operator[0]


def hull(values: tuple[Term, ...]) -> list[tuple[str, Term]]:
    """Return the least and greatest of a list that is not too long."""
    if len(values) > MANY:
        return []
    low = high = values[0]
    for value in values[1:]:
        below, above = order_of(value, low), order_of(value, high)
        if below is None or above is None:
            return []
        low = value if below < 0 else low
        high = value if above > 0 else high
    return [(">=", low), ("<=", high)]
