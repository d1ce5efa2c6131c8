"""Constants as Spark's optimizer sees them: what folds to a literal, of which type, and the value where it is plain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from merge_runner.formats.functions import NON_DETERMINISTIC
from merge_runner.formats.types import INTEGERS, DataType
from merge_runner.merge.syntax.placeholder import has_placeholder
from merge_runner.pruning.predicate.expression_type import Typed, expression_type
from merge_runner.pruning.predicate.spark_type import spark_type

_INT_MAX = 2**31
_LONGEST_NUMBER = 100
"""Characters of a number that is looked at; Spark's own have at most 38 digits."""

_STRING = DataType("string")
_DATE = DataType("date")
_TIMESTAMP = DataType("timestamp")

"""Names of sqlglot's types, as its Databricks dialect reads Spark's, and Spark's own."""

_RETURNS = {
    "CurrentDate": _DATE,
    "CurrentTimestamp": _TIMESTAMP,
    "Localtimestamp": DataType("timestamp_ntz"),
    "TsOrDsToDate": _DATE,
    "TsOrDsAdd": _DATE,
    "DateAdd": _DATE,
    "DateSub": _DATE,
    "AddMonths": _DATE,
    "LastDay": _DATE,
    "NextDay": _DATE,
    "DateTrunc": _DATE,
    "DateFromParts": _DATE,
    "TimestampTrunc": _TIMESTAMP,
    "StrToTime": _TIMESTAMP,
    "Year": DataType("int"),
    "Month": DataType("int"),
    "Day": DataType("int"),
    "Concat": _STRING,
    "DPipe": _STRING,
    "Upper": _STRING,
    "Lower": _STRING,
    "Substring": _STRING,
    "Trim": _STRING,
    "Repeat": _STRING,
    "Pad": _STRING,
    "Replace": _STRING,
    "Left": _STRING,
    "Right": _STRING,
    "TimeToStr": _STRING,
}
"""Functions of sqlglot's tree that fold when their arguments do, with the type of what they give."""

_NAMED = {
    "make_date": _DATE,
    "now": _TIMESTAMP,
    "getdate": _TIMESTAMP,
    "curdate": _DATE,
    "make_timestamp": _TIMESTAMP,
    "date_from_unix_date": _DATE,
    "to_timestamp": _TIMESTAMP,
    "next_day": _DATE,
    "date": _DATE,
    "last_day": _DATE,
    "lpad": _STRING,
    "rpad": _STRING,
    "current_database": _STRING,
    "current_user": _STRING,
}
"""The same of functions that sqlglot does not know."""

CASTS = {name: DataType(name) for name in ("tinyint", "smallint", "int", "bigint", "float", "double", "binary")}
CASTS["decimal"] = DataType("decimal", 10, 0)
"""Functions that are casts, which sqlglot does not know as such."""


@dataclass(frozen=True)
class Constant:
    """What folds to a literal. `data_type` None: not known. `value` is the literal's where `is_known` says so.

    `parameter`: it is one of the statement, whose type is taken to fit what it is compared with.
    """

    data_type: DataType | None
    value: Any = None
    is_known: bool = False
    parameter: bool = False

    @property
    def is_null(self) -> bool:
        """Whether it is NULL for certain."""
        return self.is_known and self.value is None


def constant(tree: exp.Expr) -> Constant | None:
    """The constant that an expression without columns is; None where it names a column, or does not fold."""
    if isinstance(tree, exp.Paren):
        return constant(tree.this)
    if isinstance(tree, exp.Literal):
        return _literal(tree)
    if isinstance(tree, exp.Placeholder):
        return Constant(None, parameter=True)
    if isinstance(tree, exp.Boolean):
        return Constant(DataType("boolean"), tree.this, is_known=True)
    if isinstance(tree, exp.Null):
        return Constant(DataType("void"), None, is_known=True)
    if isinstance(tree, exp.Parameter):  # a session variable
        return Constant(tree.meta.get("type"))
    if isinstance(tree, exp.Neg):
        inner = constant(tree.this)
        if inner is None or not inner.is_known or inner.value is None or isinstance(inner.value, str):
            return inner
        return Constant(inner.data_type, -inner.value, is_known=True)
    if isinstance(tree, (exp.Cast, exp.TryCast)):
        return _cast(tree)
    if isinstance(tree, exp.Interval):
        inside = tree.this
        return Constant(DataType("interval")) if inside is None or constant(inside) is not None else None
    if isinstance(tree, exp.HexString):
        return Constant(DataType("binary"))
    if isinstance(tree, (exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div)):
        return _arithmetic(tree)
    return _function(tree)


def _literal(tree: exp.Literal) -> Constant:
    text = tree.name
    if tree.is_string and has_placeholder(text):
        return Constant(_STRING)
    if tree.is_string:
        return Constant(_STRING, text, is_known=True)
    if len(text) > _LONGEST_NUMBER:
        return Constant(None)
    if text.isdigit():
        value = int(text)
        name = "int" if value < _INT_MAX else "bigint"
        return Constant(DataType(name), value, is_known=True)
    if "e" in text.lower():
        return Constant(DataType("double"), float(text), is_known=True)
    digits = Decimal(text)
    exponent = -int(digits.as_tuple().exponent)
    precision = max(len(digits.as_tuple().digits), exponent)
    return Constant(DataType("decimal", precision, exponent), digits, is_known=True)


def _cast(tree: exp.Cast | exp.TryCast) -> Constant | None:
    inner = constant(tree.this)
    if inner is None:
        return None
    return _as_type(inner, spark_type(tree.to))


def _as_type(inner: Constant, to: DataType | None) -> Constant:
    if to is None or not inner.is_known:
        return Constant(to)
    return Constant(to, *_converted(inner.value, to))


def _converted(value: Any, to: DataType) -> tuple[Any, bool]:
    """A value as another type, and whether that is certain."""
    if value is None:
        return None, True
    try:
        if to.name in INTEGERS and isinstance(value, (int, str)) and not isinstance(value, bool):
            return int(value), True
        if to.name == "date" and isinstance(value, str):
            return date.fromisoformat(value.strip()), True
        if to.name in ("timestamp", "timestamp_ntz") and isinstance(value, str):
            return datetime.fromisoformat(value.strip()), True
        if to.name == "string" and isinstance(value, str):
            return value, True
    except ValueError:
        pass
    return None, False


def _arithmetic(tree: exp.Binary) -> Constant | None:
    left, right = constant(tree.left), constant(tree.right)
    if left is None or right is None:
        return None
    names = {side.data_type.name if side.data_type else "" for side in (left, right)}
    if "interval" in names:
        return Constant(_moved(tree, left, right))
    if left.data_type == _DATE and isinstance(tree, (exp.Add, exp.Sub)):
        return Constant(_DATE if right.data_type != _DATE else DataType("interval"))
    if isinstance(tree, exp.Div):
        return Constant(DataType("double") if names <= {*INTEGERS, "double", "float"} else None)
    if names <= set(INTEGERS):
        return Constant(DataType(max(names, key=INTEGERS.index)))
    return Constant(DataType("double") if names & {"double", "float"} else None)


def _moved(tree: exp.Binary, left: Constant, right: Constant) -> DataType | None:
    """The type of a date or timestamp moved by an interval: days and more leave a date a date."""
    moved = right if left.data_type and left.data_type.name == "interval" else left
    if moved.data_type != _DATE:
        return moved.data_type
    units = [str(interval.args.get("unit") or "").upper() for interval in tree.find_all(exp.Interval)]
    whole = ("DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "YEAR", "YEARS")
    return _DATE if units and all(unit in whole for unit in units) else None


def _function(tree: exp.Expr) -> Constant | None:
    """A call whose arguments all fold; of an unknown function the type is not known."""
    if isinstance(tree, exp.Case):
        return _case(tree)
    if isinstance(tree, exp.Anonymous):
        name = tree.name.lower()
        if name in NON_DETERMINISTIC:
            return None
        if name in CASTS and len(tree.expressions) == 1:
            inner = constant(tree.expressions[0])
            return None if inner is None else _as_type(inner, CASTS[name])
        returns = _NAMED.get(name)
    elif isinstance(tree, (exp.Func, exp.DPipe)) and _is_deterministic(tree):
        returns = _RETURNS.get(type(tree).__name__)
    else:
        return None
    parts = [constant(part) for part in tree.iter_expressions() if not isinstance(part, (exp.Var, exp.DataType))]
    if any(part is None for part in parts):
        return None
    if isinstance(tree, (exp.Coalesce, exp.Greatest, exp.Least, exp.If)):
        returns = _common(part for part in parts if part is not None)
    if isinstance(tree, (exp.Concat, exp.DPipe)) and all(part and isinstance(part.value, str) for part in parts):
        return Constant(_STRING, "".join(str(part.value) for part in parts if part is not None), is_known=True)
    return Constant(returns or expression_type(tree, lambda _: Typed()).data_type)


def _case(tree: exp.Case) -> Constant | None:
    branches = [branch.args.get("true") for branch in tree.args.get("ifs") or ()]
    results = [constant(result) for result in (*branches, tree.args.get("default")) if result is not None]
    questions = [branch.this for branch in tree.args.get("ifs") or ()]
    if tree.this is not None:
        questions.append(tree.this)
    folds = all(constant(question) is not None or _is_constant_test(question) for question in questions)
    if not folds or any(result is None for result in results):
        return None
    return Constant(_common(result for result in results if result is not None))


def _is_constant_test(tree: exp.Expr) -> bool:
    """Whether a condition names nothing but constants."""
    plain = (exp.Binary, exp.Not, exp.Paren, exp.Is)
    return isinstance(tree, plain) and all(
        constant(part) is not None or _is_constant_test(part) for part in tree.iter_expressions()
    )


def _common(parts: Iterable[Constant]) -> DataType | None:
    """The type that all have which are not NULL; None where they differ."""
    data_types = {part.data_type for part in parts if not part.is_null}
    return data_types.pop() if len(data_types) == 1 else None


def _is_deterministic(tree: exp.Expr) -> bool:
    refused = (exp.AggFunc, exp.Rand, exp.Randn, exp.Uuid, exp.Window, exp.Subquery, exp.Exists)
    return not isinstance(tree, refused)
