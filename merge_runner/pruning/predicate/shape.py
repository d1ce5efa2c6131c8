"""The shapes of trees that Spark reads as a condition, a comparison or a cast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from merge_runner.pruning.predicate.constant_folding import CASTS, Constant
from merge_runner.pruning.predicate.predicate import (
    Operator,
    Truth,
)

MIRRORED: dict[Operator, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def truth_of(folded: Constant, negated: bool) -> Truth:
    """Return the truth of a constant condition, or of its negation."""
    if folded.is_known and (folded.value is None or isinstance(folded.value, bool)):
        return Truth(folded.value if folded.value is None else folded.value is not negated)
    return Truth(None, is_known=False)


def compared_constants(left: Constant, operator: Operator, right: Constant, negated: bool) -> Truth:
    """A comparison of two constants, where their values are plain and of one kind."""
    if operator != "<=>" and (left.is_null or right.is_null):
        return Truth(None)
    if not (left.is_known and right.is_known) or type(left.value) is not type(right.value):
        return Truth(None, is_known=False)
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "=": lambda a, b: a == b,
        "<=>": lambda a, b: a == b,
        "<>": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }
    return Truth(tests[operator](left.value, right.value) is not negated)


def comparison_operator(tree: exp.Expr) -> Operator | None:
    """Return the operator of a comparison; None for any other tree."""
    operators: dict[str, Operator] = {
        "EQ": "=",
        "NullSafeEQ": "<=>",
        "EqualNull": "<=>",
        "NEQ": "<>",
        "LT": "<",
        "LTE": "<=",
        "GT": ">",
        "GTE": ">=",
    }
    return operators.get(type(tree).__name__)


def boolean_case(tree: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None]:
    """The condition of `CASE WHEN condition THEN true ELSE false END`, or of such an IF, and what it gives."""
    branches: list[exp.Expr] = tree.args["ifs"] if isinstance(tree, exp.Case) and tree.this is None else [tree]
    otherwise = tree.args.get("default" if isinstance(tree, exp.Case) else "false")
    then = branches[0].args.get("true") if len(branches) == 1 and isinstance(branches[0], exp.If) else None
    if isinstance(then, exp.Boolean) and isinstance(otherwise, exp.Boolean) and then.this is not otherwise.this:
        return branches[0].this, then
    return None, None


def is_cast(tree: exp.Expr) -> bool:
    """Return whether a tree is a cast, written as CAST or as a function such as `date(x)`."""
    return isinstance(tree, (exp.Cast, exp.TryCast)) or (isinstance(tree, exp.Anonymous) and tree.name.lower() in CASTS)


def is_condition(tree: exp.Expr) -> bool:
    """Whether an expression is a condition by its form: a boolean column or call is none."""
    tree = unwrap(tree)
    if isinstance(tree, exp.Anonymous):
        return str(tree.name).lower() in ("isnull", "isnotnull")
    if isinstance(tree, exp.Coalesce):
        return any(isinstance(part, exp.Boolean) for part in tree.expressions)
    kinds = (exp.Predicate, exp.Connector, exp.Not, exp.StartsWith)
    return isinstance(tree, kinds) or comparison_operator(tree) is not None or boolean_case(tree)[0] is not None


def unwrap(tree: exp.Expr) -> exp.Expr:
    """Return the tree inside parentheses."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def iter_legs(tree: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """The operands of a chain of ANDs or ORs in their order, without recursion: a chain may have thousands."""
    pending = [tree]
    while pending:
        node = pending.pop()
        inner = unwrap(node)
        if type(inner) is kind:
            pending += [inner.args["expression"], inner.this]
        else:
            yield inner


_SYMBOLS = {
    **{"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "Neg": "-", "DPipe": "||", "Case": "CASE"},
    **{"IntDiv": "div", "BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseNot": "~"},
}
_WORDS = {
    "ArraySize": "size",
    "AtTimeZone": "from_utc_timestamp",
    "DateTrunc": "trunc",
    "DayOfMonth": "dayofmonth",
    "DayOfWeek": "dayofweek",
    "EndsWith": "endswith",
    "IsNan": "isnan",
    "JSONExtractScalar": "get_json_object",
    "NullSafeNEQ": "IS DISTINCT FROM",
    "RegexpLike": "rlike",
    "StrPosition": "instr",
    "StrToTime": "to_timestamp",
    "StrToUnix": "unix_timestamp",
    "TimeToStr": "date_format",
    "TimestampAdd": "dateadd",
    "TimestampTrunc": "date_trunc",
    "TsOrDsAdd": "date_add",
    "TsOrDsToDate": "to_date",
    "UnixToStr": "from_unixtime",
    "WeekOfYear": "weekofyear",
}
"""Nodes of sqlglot's tree, and what Spark's users write."""


def function_name(tree: exp.Expr) -> str:
    """The expression around a column, as its author would call it."""
    kind = type(tree).__name__
    if kind in _SYMBOLS:
        return _SYMBOLS[kind]
    if isinstance(tree, (exp.Cast, exp.TryCast)):
        return "cast"
    if isinstance(tree, exp.Anonymous):
        return str(tree.name)
    if isinstance(tree, exp.Dot):
        return "a function"
    if isinstance(tree, exp.Bracket):
        return "[ ]"
    if kind in _WORDS:
        return _WORDS[kind]
    return tree.sql_name().lower() if isinstance(tree, exp.Func) else kind.lower()
