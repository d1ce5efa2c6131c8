"""The type of an expression and whether it may be NULL, by the rules of Spark's analyser; unknown where not certain.

The rules are those of Spark 4.1 with ANSI mode on, its default (`TypeCoercion`, `Cast`, `Sum`, `Average`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from sqlglot import exp

from merge_runner.formats.types import INTEGERS, DataType
from merge_runner.pruning.predicate.spark_type import spark_type


class Typed(NamedTuple):
    """A type and whether NULL is among the values; None: unknown."""

    data_type: DataType | None = None
    nullable: bool | None = None


Columns = Callable[["exp.Expr"], Typed]
"""The type of a column's node."""

UNKNOWN = Typed()
_BIGINT, _INT, _STRING, _DATE = DataType("bigint"), DataType("int"), DataType("string"), DataType("date")
_TIMESTAMP, _BOOLEAN, _DOUBLE = DataType("timestamp"), DataType("boolean"), DataType("double")
_MAX_PRECISION = 38
_INTEGER_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_LARGEST_INT = 2**31 - 1
_LARGEST_BIGINT = 2**63 - 1

_NESTED = frozenset({"array", "map", "struct", "interval"})
"""Types whose parts are not followed here."""


def declared_type(node: exp.Expr) -> DataType | None:
    """The type of what a cast gives; VARCHAR(n) and CHAR(n) give a string there."""
    data_type = spark_type(node) if isinstance(node, exp.DataType) else None
    if data_type is None or data_type.name in _NESTED:
        return None
    return _STRING if data_type.is_text else data_type


def expression_type(node: exp.Expr, columns: Columns) -> Typed:
    """The type of an expression whose columns have the types that `columns` gives."""
    try:
        return _typed(node, columns)
    except RecursionError:
        return UNKNOWN


def wider(left: DataType | None, right: DataType | None) -> DataType | None:
    """The type that values of both take in one column (UNION, coalesce, CASE); None where that is not certain."""
    if left == right:
        return left
    if left is None or right is None:
        return None
    if left.name == "void":
        return right
    if right.name == "void":
        return left
    if left.is_text and right.is_text:
        return _STRING
    if left.name in INTEGERS and right.name in INTEGERS:
        return left if INTEGERS.index(left.name) > INTEGERS.index(right.name) else right
    if left.is_numeric and right.is_numeric and "double" in (left.name, right.name):
        return _DOUBLE
    first, second = _as_decimal(left), _as_decimal(right)
    if first is not None and second is not None:
        scale = max(first[1], second[1])
        digits = max(first[0] - first[1], second[0] - second[1])
        return _decimal(digits + scale, scale)
    if {left.name, right.name} == {"date", "timestamp"}:
        return _TIMESTAMP
    return None


def any_nullable(*flags: bool | None) -> bool | None:
    """Whether a value that is NULL as soon as one of its parts is may be NULL."""
    if any(flag is True for flag in flags):
        return True
    return None if None in flags else False


def _as_decimal(data_type: DataType) -> tuple[int, int] | None:
    if data_type.name == "decimal" and data_type.precision is not None:
        return data_type.precision, data_type.scale or 0
    digits = _INTEGER_DIGITS.get(data_type.name)
    return (digits, 0) if digits else None


def _decimal(precision: int, scale: int) -> DataType | None:
    return DataType("decimal", precision, scale) if precision <= _MAX_PRECISION else None


Rule = Callable[["exp.Expr", Columns], Typed]


def _typed(node: exp.Expr, columns: Columns) -> Typed:
    rule = _rules().get(type(node))
    return rule(node, columns) if rule is not None else UNKNOWN


@cache
def _rules() -> dict[type[exp.Expr], Rule]:
    def of_parts(data_type: DataType | None, nullable: bool | None = False) -> Rule:
        """A type by itself; NULL as soon as a part is, or where `nullable` says that it may be otherwise."""

        def rule(node: exp.Expr, columns: Columns) -> Typed:
            parts = (
                _typed(part, columns).nullable for part in node.iter_expressions() if not isinstance(part, exp.Var)
            )
            return Typed(data_type, any_nullable(nullable, *parts))

        return rule

    def always(data_type: DataType | None, nullable: bool | None = False) -> Rule:
        return lambda node, columns: Typed(data_type, nullable)

    def same(nullable: bool | None = None) -> Rule:
        """The type of its argument; `nullable` True: it may be NULL besides."""

        def rule(node: exp.Expr, columns: Columns) -> Typed:
            inner = _typed(node.this, columns)
            return Typed(inner.data_type, True if nullable else inner.nullable)

        return rule

    rules: dict[type[exp.Expr], Rule] = {
        exp.Column: lambda node, columns: columns(node),
        exp.Dot: lambda node, columns: columns(node),
        exp.Paren: same(),
        exp.Alias: same(),
        exp.Literal: _literal,
        exp.Boolean: always(_BOOLEAN),
        exp.Null: always(DataType("void"), True),
        exp.Cast: _cast,
        exp.TryCast: _cast,
        exp.Neg: same(),
        exp.Abs: same(),
        exp.Distinct: lambda node, columns: _typed(node.expressions[0], columns),
        exp.Count: always(_BIGINT),
        exp.CountIf: always(_BIGINT),
        exp.ApproxDistinct: always(_BIGINT),
        exp.Sum: _sum,
        exp.Avg: _average,
        exp.Window: _window,
        exp.Filter: _filter,
        exp.IgnoreNulls: same(nullable=True),
        exp.Coalesce: _coalesce,
        exp.Case: _case,
        exp.If: _if,
        exp.Nullif: same(nullable=True),
        exp.Greatest: _coalesce,
        exp.Least: _coalesce,
        exp.CurrentDate: always(_DATE),
        exp.CurrentTimestamp: always(_TIMESTAMP),
        exp.CurrentUser: always(_STRING),
        exp.TsOrDsAdd: of_parts(_DATE),
        exp.AddMonths: of_parts(_DATE),
        exp.LastDay: of_parts(_DATE, None),
        exp.TsOrDsToDate: of_parts(_DATE, None),
        exp.DateTrunc: lambda node, columns: Typed(_DATE, None),
        exp.TimestampTrunc: lambda node, columns: Typed(_TIMESTAMP, None),
        exp.DateDiff: of_parts(_INT),
        exp.Add: _arithmetic,
        exp.Sub: _arithmetic,
        exp.Mul: _arithmetic,
        exp.Div: _division,
        exp.IntDiv: always(_BIGINT, None),
        exp.Mod: lambda node, columns: Typed(_arithmetic(node, columns).data_type, None),
        exp.Concat: _concat,
        exp.DPipe: _concat,
        exp.Is: always(_BOOLEAN),
        exp.NullSafeEQ: always(_BOOLEAN),
        exp.NullSafeNEQ: always(_BOOLEAN),
        exp.Exists: always(_BOOLEAN),
        exp.MD5: of_parts(_STRING),
        exp.SHA2: of_parts(_STRING),
        exp.Uuid: always(_STRING),
        exp.Anonymous: _anonymous,
        exp.RowNumber: always(_INT),
        exp.Rank: always(_INT),
        exp.DenseRank: always(_INT),
        exp.Ntile: always(_INT),
        exp.Lag: same(nullable=True),
        exp.Lead: same(nullable=True),
    }
    for kinds, rule in (
        ((exp.Max, exp.Min, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue), same()),
        ((exp.ArgMax, exp.ArgMin), same(nullable=True)),
        (
            (exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.Week, exp.DayOfWeek, exp.DayOfYear),
            always(_INT, None),
        ),
        ((exp.Hour, exp.Minute, exp.Second, exp.Length), of_parts(_INT)),
        ((exp.Upper, exp.Lower, exp.Trim, exp.Initcap), of_parts(_STRING)),
        (
            (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.Between, exp.In),
            of_parts(_BOOLEAN),
        ),
        ((exp.Like, exp.ILike, exp.RegexpLike, exp.StartsWith, exp.EndsWith), of_parts(_BOOLEAN)),
    ):
        rules.update(dict.fromkeys(kinds, rule))
    return rules


def _literal(node: exp.Expr, columns: Columns) -> Typed:
    if node.is_string:
        return Typed(_STRING, False)
    text = str(node.this)
    if text.isdecimal():
        if len(text) > _MAX_PRECISION:
            return Typed(None, False)
        value = int(text)
        if value <= _LARGEST_INT:
            return Typed(_INT, False)
        if value <= _LARGEST_BIGINT:
            return Typed(_BIGINT, False)
        return Typed(_decimal(len(text), 0), False)
    if "e" in text.lower():
        return Typed(_DOUBLE, False)
    whole, _, fraction = text.partition(".")
    precision = max(len(whole.lstrip("0")) + len(fraction), len(fraction), 1)
    return Typed(_decimal(precision, len(fraction)) if fraction.isdecimal() else None, False)


def _cast(node: exp.Expr, columns: Columns) -> Typed:
    """ANSI: a cast that fails raises; only try_cast gives NULL, which sqlglot's tree does not show in every dialect."""
    inner = _typed(node.this, columns)
    if isinstance(node, exp.TryCast):
        return Typed(declared_type(node.args["to"]), True)
    return Typed(declared_type(node.args["to"]), inner.nullable)


def _sum(node: exp.Expr, columns: Columns) -> Typed:
    inner = _typed(node.this, columns)
    data_type: DataType | None = None
    if inner.data_type is not None:
        if inner.data_type.name in INTEGERS:
            data_type = _BIGINT
        elif inner.data_type.name in ("float", "double"):
            data_type = _DOUBLE
        elif inner.data_type.name == "decimal" and inner.data_type.precision is not None:
            data_type = DataType("decimal", min(inner.data_type.precision + 10, _MAX_PRECISION), inner.data_type.scale)
    return Typed(data_type, any_nullable(inner.nullable, None))


def _average(node: exp.Expr, columns: Columns) -> Typed:
    inner = _typed(node.this, columns)
    if inner.data_type is None or not inner.data_type.is_numeric:
        return Typed(None, any_nullable(inner.nullable, None))
    if inner.data_type.name != "decimal":
        return Typed(_DOUBLE, any_nullable(inner.nullable, None))
    precision, scale = inner.data_type.precision or 10, inner.data_type.scale or 0
    data_type = _decimal(precision + 4, scale + 4)
    return Typed(data_type, any_nullable(inner.nullable, None))


def _window(node: exp.Expr, columns: Columns) -> Typed:
    inner = _typed(node.this, columns)
    if isinstance(node.this, exp.RowNumber | exp.Rank | exp.DenseRank | exp.Ntile | exp.Count):
        return inner
    return Typed(inner.data_type, True if inner.nullable else None)


def _filter(node: exp.Expr, columns: Columns) -> Typed:
    inner = _typed(node.this, columns)
    return inner if isinstance(node.this, exp.Count) else Typed(inner.data_type, True)


def _coalesce(node: exp.Expr, columns: Columns) -> Typed:
    """Of the widest type; whether several arguments are NULL together is unknown, as are keys of a full join.

    greatest and least skip NULL as well.
    """
    parts = [_typed(part, columns) for part in (node.this, *node.expressions)]
    data_type = parts[0].data_type
    for part in parts[1:]:
        data_type = wider(data_type, part.data_type)
    if any(part.nullable is False for part in parts):
        return Typed(data_type, False)
    return Typed(data_type, parts[0].nullable if len(parts) == 1 else None)


def _case(node: exp.Expr, columns: Columns) -> Typed:
    branches = [_typed(branch.args["true"], columns) for branch in node.args["ifs"]]
    default = node.args.get("default")
    branches.append(_typed(default, columns) if default is not None else Typed(DataType("void"), True))
    return _one_of(branches)


def _if(node: exp.Expr, columns: Columns) -> Typed:
    otherwise = node.args.get("false")
    other = _typed(otherwise, columns) if otherwise is not None else Typed(DataType("void"), True)
    return _one_of([_typed(node.args["true"], columns), other])


def _one_of(branches: list[Typed]) -> Typed:
    data_type = branches[0].data_type
    for branch in branches[1:]:
        data_type = wider(data_type, branch.data_type)
    return Typed(data_type, any_nullable(*(branch.nullable for branch in branches)))


def _arithmetic(node: exp.Expr, columns: Columns) -> Typed:
    """Integers, doubles, days and moments; the precision of decimals depends on confs and stays unknown."""
    left, right = _typed(node.this, columns), _typed(node.expression, columns)
    nullable = any_nullable(left.nullable, right.nullable)
    if isinstance(node.expression, exp.Interval) and not isinstance(node, exp.Mul | exp.Mod):
        interval = node.expression
        unit = interval.args.get("unit")
        nullable = left.nullable
        if left.data_type is None or left.data_type.name != "date":
            return Typed(left.data_type if left.data_type in (_TIMESTAMP,) else None, nullable)
        days = unit is not None and unit.name.lower().removesuffix("s") in ("year", "month", "week", "day")
        return Typed(_DATE if days else None, nullable)
    if left.data_type is None or right.data_type is None:
        return Typed(None, nullable)
    names = {left.data_type.name, right.data_type.name}
    if names <= set(INTEGERS):
        return Typed(wider(left.data_type, right.data_type), nullable)
    if "double" in names and left.data_type.is_numeric and right.data_type.is_numeric:
        return Typed(_DOUBLE, nullable)
    if left.data_type == _DATE and right.data_type.name in INTEGERS and isinstance(node, exp.Add | exp.Sub):
        return Typed(_DATE, nullable)
    return Typed(None, nullable)


def _division(node: exp.Expr, columns: Columns) -> Typed:
    left, right = _typed(node.this, columns).data_type, _typed(node.expression, columns).data_type
    whole = (*INTEGERS, "double", "float")
    are_whole = left is not None and right is not None and left.name in whole and right.name in whole
    return Typed(_DOUBLE if are_whole else None, None)


def _concat(node: exp.Expr, columns: Columns) -> Typed:
    parts = node.expressions if isinstance(node, exp.Concat) else [node.this, node.expression]
    types = [_typed(part, columns) for part in parts]
    texts = all(part.data_type is not None and not part.data_type.fields for part in types)
    return Typed(_STRING if texts else None, any_nullable(*(part.nullable for part in types)))


_FUNCTIONS = {
    "make_date": (_DATE, None),
    "hash": (_INT, False),
    "xxhash64": (_BIGINT, False),
    "count_if": (_BIGINT, False),
    "monotonically_increasing_id": (_BIGINT, False),
    "to_utc_timestamp": (_TIMESTAMP, None),
    "from_utc_timestamp": (_TIMESTAMP, None),
    "isnull": (_BOOLEAN, False),
    "isnotnull": (_BOOLEAN, False),
}


def _anonymous(node: exp.Expr, columns: Columns) -> Typed:
    return Typed(*_FUNCTIONS.get(str(node.this).lower(), (None, None)))
