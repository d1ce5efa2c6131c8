"""Whether a column can still be compared by its statistics when a cast or a literal of another type is at work."""

from __future__ import annotations

from decimal import Decimal

from merge_runner.formats import Format
from merge_runner.formats.facts.casts import CASTS
from merge_runner.formats.facts.literals import LITERALS, REFUSED_LITERALS
from merge_runner.formats.lines import Line
from merge_runner.formats.types import INTEGERS, DataType
from merge_runner.pruning.predicate.constant_folding import Constant
from merge_runner.pruning.predicate.predicate import Comparison
from merge_runner.pruning.skipping.pruning_result import Outcome, quote_column


def compared_type(predicate: Comparison, data_type: DataType) -> DataType:
    """The type that constants are compared with: the cast's, but Spark makes one of two casts to wider numbers."""
    to = predicate.cast
    if to is None or ({data_type.name, to.name} <= set(INTEGERS) and _is_wider(data_type, to)):
        return data_type
    return to


def _is_wider(data_type: DataType, to: DataType) -> bool:
    return INTEGERS.index(data_type.name) <= INTEGERS.index(to.name)


def by_cast(predicate: Comparison, data_type: DataType, table_format: Format, line: Line) -> Outcome | None:
    """The outcome where a cast surrounds the column that Spark does not unwrap, or may not; None: it unwraps it."""
    to, name = predicate.cast, quote_column(predicate.column)
    if to is None:
        return None
    prunes = CASTS.answer((data_type.name, to.name), table_format, line)
    has_others = any(item.data_type is None or item.data_type.name != "float" for item in predicate.constants)
    if prunes is None or (to.name == "float" and prunes != "yes" and has_others):  # a second cast hides the first
        return Outcome(None, "unknown-type", f"whether Spark takes the cast of {name} to {to} off is not known", "cast")
    if prunes != "yes" or not _holds_all(data_type, to):
        reason = f"{name} is {data_type}: Spark does not take the cast to {to} off the column"
        return Outcome(False, "wrapped", reason, "cast")
    if predicate.operator in (_LISTS if _casts_up(data_type, to) else _NOT_DOWN) and _moves(data_type, to):
        return Outcome(False, "wrapped", _in_time(predicate, data_type, to), "cast")
    return None


_MOST_DIGITS = 38
_TIMES = ("date", "timestamp_ntz", "timestamp")
_LISTS = ("in", "not in")
_NOT_DOWN = (*_LISTS, "<=>", "not <=>")
"""Operators for which Spark does not take a cast from a timestamp to a date off."""

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""Digits that a decimal needs for every value of a type, as Spark counts them."""


def _moves(data_type: DataType, to: DataType) -> bool:
    """Whether a date becomes a timestamp or the other way round."""
    return data_type.name != to.name and data_type.name in _TIMES and to.name in _TIMES


def _casts_up(data_type: DataType, to: DataType) -> bool:
    """Whether the column is cast, not the constant: to a timestamp from a date, with a time zone from without."""
    return _moves(data_type, to) and _TIMES.index(data_type.name) < _TIMES.index(to.name)


def _in_time(predicate: Comparison, data_type: DataType, to: DataType) -> str:
    operator, name = predicate.operator.upper(), quote_column(predicate.column)
    return f"{name} is {data_type}: Spark takes a cast to {to} off for `=` and ranges, not for {operator}"


def _holds_all(data_type: DataType, to: DataType) -> bool:
    """Whether a decimal holds all values of the column, where the cast is to one."""
    if to.name != "decimal" or to.precision is None:
        return True
    precision, scale = to.precision, to.scale or 0
    if data_type.name == "decimal" and data_type.precision is not None:
        own = data_type.scale or 0
        return scale >= own and precision - scale >= data_type.precision - own
    return precision - scale >= _DIGITS.get(data_type.name, 0)


def null_of_cast(predicate: Comparison, data_type: DataType | None) -> Outcome | None:
    """What IS NULL of a cast does; None where there is no cast, or Spark drops it."""
    name, to = quote_column(predicate.column), predicate.cast
    if to is None or to == data_type:
        return None
    if data_type is None:
        return Outcome(
            None, "unknown-type", f"whether the cast of {name} to {to} is one is not known: declare its type"
        )
    return Outcome(False, "wrapped", f"{name} is {data_type}: Spark does not take the cast to {to} off IS NULL", "cast")


def out_of_range(predicate: Comparison, data_type: DataType) -> bool | None:
    """Whether a number that no value of the column's type equals makes the comparison true; None: there is none."""
    if len(predicate.constants) != 1 or not predicate.constants[0].is_known:
        return None
    value = predicate.constants[0].value
    limits = _limits(data_type)
    if limits is None or not isinstance(value, (int, Decimal)) or isinstance(value, bool):
        return None
    if limits[0] <= value <= limits[1]:
        return False if value != int(value) and predicate.operator in ("=", "<=>") else None
    above = value > limits[1]
    return predicate.operator in (("<", "<=", "<>") if above else (">", ">=", "<>"))


def _limits(data_type: DataType) -> tuple[int, int] | None:
    """The numbers between which all values of a type lie."""
    if data_type.name in INTEGERS:
        most = 2 ** (8 * 2 ** INTEGERS.index(data_type.name) - 1)
        return -most, most - 1
    return None


def _overflows(constant: Constant, data_type: DataType) -> bool:
    """Whether a number has more digits before the point than a decimal column: Spark widens the column then."""
    if data_type.name != "decimal" or data_type.precision is None:
        return False
    value, constant_type = constant.value, constant.data_type
    if constant_type is not None and constant_type.name == "decimal" and constant_type.precision is not None:
        own, scale = data_type.scale or 0, constant_type.scale or 0
        if max(constant_type.precision - scale, data_type.precision - own) + max(scale, own) > _MOST_DIGITS:
            return True
    return (
        constant.is_known
        and isinstance(value, (int, Decimal))
        and abs(value) >= 10 ** (data_type.precision - (data_type.scale or 0))
    )


def by_literal(predicate: Comparison, data_type: DataType, table_format: Format, line: Line) -> Outcome | None:
    """The outcome where a constant's type makes Spark cast the column, or may; None: the column stays bare."""
    name = quote_column(predicate.column)
    unknown = None
    for constant in predicate.constants:
        constant_type = constant.data_type
        if constant.parameter:
            if data_type.is_text:  # the column is cast where the parameter is a number
                unknown = Outcome(
                    None, "unknown-type", f"the type of the parameter that {name} is compared with is not known"
                )
            continue
        if _overflows(constant, data_type):
            reason = f"the constant has more digits than {name}, {data_type}: Spark casts the column, not the constant"
            return Outcome(False, "literal-type", reason, "decimal")
        if constant_type is None:
            unknown = Outcome(None, "unknown-type", f"the type that {name} is compared with is not known", "literal")
            continue
        if constant_type.name in (data_type.name, "void") or (constant_type.is_text and data_type.is_text):
            continue
        types = data_type.name, constant_type.name
        prunes = LITERALS.answer(types, table_format, line)
        if prunes is None or types in REFUSED_LITERALS:
            reason = f"how Spark compares {name}, {data_type}, with {constant_type} is not known"
            unknown = Outcome(None, "unknown-type", reason)
        elif prunes != "yes":
            reason = f"{name} is {data_type} and the constant {constant_type}: Spark casts the column, not the constant"
            return Outcome(False, "literal-type", reason, constant_type.name)
        elif _casts_up(data_type, constant_type) and predicate.operator in _LISTS:
            return Outcome(False, "literal-type", _in_time(predicate, data_type, constant_type), constant_type.name)
    return unknown
