"""The expression around a column, in the words of its author and not in sqlglot's."""

from __future__ import annotations

from sqlglot import exp

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
