"""The trees of expressions as terms, so that those that mean the same compare as equal."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import TypeVar

from sqlglot import exp

from merge_runner.merge.syntax.placeholder import has_placeholder, is_repeatable
from merge_runner.pruning.logic import constant_value
from merge_runner.pruning.logic.constant_value import NULL, TRUE, Lit
from merge_runner.pruning.logic.fold import (
    MANY,
    coalesce_terms,
    compare_terms,
    fold,
    join_terms,
    negate_term,
    term_in_list,
)
from merge_runner.pruning.logic.term import Call, Col, Term, columns, has_opaque
from merge_runner.pruning.predicate.expression_type import declared_type
from merge_runner.sql.names import name_parts

Resolve = Callable[["exp.Expr"], "Term | None"]
"""Gives the term of a column's node; None where it is not known which column that is."""
_Result = TypeVar("_Result")
_RANDOM = frozenset(
    [
        "rand",
        "random",
        "randn",
        "uuid",
        "shuffle",
        "monotonically_increasing_id",
        "spark_partition_id",
        "input_file_name",
    ]
)
_UNITS = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    **dict.fromkeys(("month", "mon", "mm"), "month"),
    **dict.fromkeys(("day", "dd"), "day"),
    "quarter": "quarter",
    "week": "week",
    "hour": "hour",
}
_INTERVALS = {"year": (12, 0), "month": (1, 0), "week": (0, 604_800), "day": (0, 86_400), "hour": (0, 3600)} | {
    "minute": (0, 60),
    "second": (0, 1),
}
"""Months and seconds of each unit."""


class TermCache:
    """A Resolve that keeps the terms of trees which were read with it: rules read the same few again and again."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self.values: dict[int, tuple[exp.Expr, Term | None]] = {}
        self.conditions: dict[int, tuple[exp.Expr, Term]] = {}
        """By the id of a tree, which is kept as well: no other tree gets its id."""

    def __call__(self, node: exp.Expr) -> Term | None:
        return self._resolve(node)


def term(node: exp.Expr, resolve: Resolve) -> Term | None:
    """The term of a value; None where it holds something that cannot be read, or is another value each time."""
    if not isinstance(resolve, TermCache):
        return _value(node, resolve)
    return _cached_term(resolve.values, node, _value, resolve)


def condition(node: exp.Expr, resolve: Resolve) -> Term:
    """The term of a condition, with NOT pushed inward; `opaque` where it cannot be read."""
    if not isinstance(resolve, TermCache):
        return _whole_condition(node, resolve)
    return _cached_term(resolve.conditions, node, _whole_condition, resolve)


def _cached_term(
    entries: dict[int, tuple[exp.Expr, _Result]],
    node: exp.Expr,
    make: Callable[[exp.Expr, Resolve], _Result],
    resolve: Resolve,
) -> _Result:
    entry = entries.get(id(node))
    if entry is None:
        entry = entries[id(node)] = node, make(node, resolve)
    return entry[1]


def _value(node: exp.Expr, resolve: Resolve) -> Term | None:
    try:
        return _term(node, resolve)
    except RecursionError:
        return None


def _whole_condition(node: exp.Expr, resolve: Resolve) -> Term:
    try:
        return _condition(node, resolve, False)
    except RecursionError:
        return Call("opaque", ())


def _condition(node: exp.Expr, resolve: Resolve, negate: bool) -> Term:
    while isinstance(node, exp.Paren | exp.Not):
        negate ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.And | exp.Or):
        name = "and" if isinstance(node, exp.And) is not negate else "or"
        return join_terms(name, [_condition(part, resolve, negate) for part in node.flatten()])
    value = _term(node, resolve)
    if value is None:
        resolved = [resolve(column) for column in node.find_all(exp.Column)]
        return Call("opaque", tuple(column for item in resolved if item is not None for column in columns(item)))
    if negate:
        return negate_term(value)
    return Call("=", (value, TRUE)) if isinstance(value, Col) else value


def _term(node: exp.Expr, resolve: Resolve) -> Term | None:
    handler = _handlers().get(type(node))
    return handler(node, resolve) if handler is not None else _generic(node, resolve)


def _generic(node: exp.Expr, resolve: Resolve) -> Term | None:
    if isinstance(node, exp.Query | exp.Window | exp.Lambda | exp.Exists | exp.Identifier | exp.Placeholder):
        return None
    name = str(node.this).lower() if isinstance(node, exp.Anonymous) else type(node).__name__.lower()
    if name in _RANDOM:
        return None
    arguments: list[Term] = []
    for key, value in node.args.items():
        if value is None or (key == "this" and isinstance(node, exp.Anonymous)):
            continue
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, exp.Expr):
                argument = _term(item, resolve)
                if argument is None:
                    return None
                arguments.append(argument)
            elif item is not None:
                arguments.append(Lit("argument", (key, item)))
    return Call(name, tuple(arguments))


Handler = Callable[["exp.Expr", Resolve], "Term | None"]


@cache
def _handlers() -> dict[type[exp.Expr], Handler]:
    def comparison(name: str) -> Handler:
        def read(node: exp.Expr, resolve: Resolve) -> Term | None:
            left, right = _term(node.this, resolve), _term(node.expression, resolve)
            return None if left is None or right is None else compare_terms(name, left, right)

        return read

    def call(name: str, *keys: str) -> Handler:
        def read(node: exp.Expr, resolve: Resolve) -> Term | None:
            arguments = []
            for key in keys:
                argument = _term(node.args[key], resolve) if node.args.get(key) is not None else NULL
                if argument is None:
                    return None
                arguments.append(argument)
            return fold(name, tuple(arguments))

        return read

    def column(node: exp.Expr, resolve: Resolve) -> Term | None:
        return None if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) else resolve(node)

    def boolean_condition(node: exp.Expr, resolve: Resolve) -> Term | None:
        whole = _condition(node, resolve, False)
        return None if has_opaque(whole) else whole

    comparisons: dict[type[exp.Expr], str] = {
        exp.EQ: "=",
        exp.NullSafeEQ: "<=>",
        exp.NEQ: "<>",
        exp.LT: "<",
        exp.LTE: "<=",
        exp.GT: ">",
        exp.GTE: ">=",
    }
    handlers: dict[type[exp.Expr], Handler] = {kind: comparison(name) for kind, name in comparisons.items()}
    handlers.update(
        {
            exp.Column: column,
            exp.Dot: _dot,
            exp.Paren: lambda node, resolve: _term(node.this, resolve),
            exp.Placeholder: lambda node, resolve: Call("parameter", (Lit("text", node.name),)) if node.name else None,
            exp.Literal: lambda node, resolve: _literal(node),
            exp.Boolean: lambda node, resolve: Lit("bool", bool(node.this)),
            exp.Null: lambda node, resolve: NULL,
            exp.Star: lambda node, resolve: None if any(node.args.values()) else Lit("star", None),
            exp.And: boolean_condition,
            exp.Or: boolean_condition,
            exp.Not: boolean_condition,
            exp.Between: _between,
            exp.In: _in,
            exp.Is: _is,
            exp.NullSafeNEQ: _distinct,
            exp.Cast: _cast,
            exp.TryCast: _cast,
            exp.CurrentDate: lambda node, resolve: constant_value.TODAY if not node.this else None,
            exp.CurrentTimestamp: lambda node, resolve: constant_value.NOW if not node.this else None,
            exp.Interval: _interval,
            exp.Neg: call("neg", "this"),
            exp.Add: call("+", "this", "expression"),
            exp.Sub: call("-", "this", "expression"),
            exp.Mul: call("*", "this", "expression"),
            exp.TsOrDsAdd: call("date_add", "this", "expression"),
            exp.AddMonths: call("add_months", "this", "expression"),
            exp.TsOrDsToDate: _to_date,
            exp.DateTrunc: _trunc,
            exp.TimestampTrunc: _trunc,
            exp.Coalesce: _coalesce,
            exp.Rand: lambda node, resolve: None,
            exp.Randn: lambda node, resolve: None,
            exp.Uuid: lambda node, resolve: None,
            exp.Anonymous: _anonymous,
        }
    )
    return handlers


def _dot(node: exp.Expr, resolve: Resolve) -> Term | None:
    return resolve(node) if name_parts(node) else _generic(node, resolve)


def _literal(node: exp.Expr) -> Term | None:
    if not node.is_string:
        return constant_value.number(str(node.this))
    if not has_placeholder(str(node.this)):
        return Lit("text", node.this)
    return Call("filled", (Lit("text", node.this),)) if is_repeatable(str(node.this)) else None


def _between(node: exp.Expr, resolve: Resolve) -> Term | None:
    subject, low, high = (_term(node.args[key], resolve) for key in ("this", "low", "high"))
    if subject is None or low is None or high is None:
        return None
    return join_terms("and", [compare_terms(">=", subject, low), compare_terms("<=", subject, high)])


def _in(node: exp.Expr, resolve: Resolve) -> Term | None:
    subject = _term(node.this, resolve)
    if subject is None or node.args.get("query") is not None:
        return None
    values: list[Term] = []
    for item in node.expressions:
        value = _term(item, resolve)
        if value is None:
            return None
        values.append(value)
    if not values:
        return None
    if not all(isinstance(value, Lit) for value in values) and len(values) <= MANY:
        return join_terms("or", [compare_terms("=", subject, value) for value in values])
    return term_in_list("in", subject, tuple(value for value in values if value != NULL) or (NULL,))


def _is(node: exp.Expr, resolve: Resolve) -> Term | None:
    subject = _term(node.this, resolve)
    if subject is None:
        return None
    if isinstance(node.expression, exp.Null):
        return fold("isnull", (subject,))
    value = _term(node.expression, resolve)
    return None if value is None else compare_terms("<=>", subject, value)


def _distinct(node: exp.Expr, resolve: Resolve) -> Term | None:
    left, right = _term(node.this, resolve), _term(node.expression, resolve)
    return None if left is None or right is None else negate_term(compare_terms("<=>", left, right))


def _cast(node: exp.Expr, resolve: Resolve) -> Term | None:
    subject = _term(node.this, resolve)
    if subject is None:
        return None
    to = declared_type(node.args["to"])
    name = "try_cast" if isinstance(node, exp.TryCast) else "cast"  # the one gives NULL where the other raises
    return fold(f"{name}:{to}", (subject,)) if to is not None else _generic(node, resolve)


def _to_date(node: exp.Expr, resolve: Resolve) -> Term | None:
    if node.args.get("format") is not None:
        return _generic(node, resolve)
    subject = _term(node.this, resolve)
    return None if subject is None else fold("cast:date", (subject,))


def _trunc(node: exp.Expr, resolve: Resolve) -> Term | None:
    subject = _term(node.this, resolve)
    unit = node.args.get("unit")
    word = _UNITS.get(unit.name.lower()) if unit is not None else None
    if subject is None:
        return None
    return fold(f"trunc:{word}", (subject,)) if word else _generic(node, resolve)


def _interval(node: exp.Expr, resolve: Resolve) -> Term | None:
    value, unit = node.this, node.args.get("unit")
    if value is None or unit is None or (not value.is_string and not value.is_number):
        return _generic(node, resolve)
    number = constant_value.number(value.name)
    parts = _INTERVALS.get(unit.name.lower().removesuffix("s"))
    if number is None or parts is None or number.value != number.value.to_integral_value():
        return _generic(node, resolve)
    count = int(number.value)
    return Lit("interval", (parts[0] * count, parts[1] * count))


def _coalesce(node: exp.Expr, resolve: Resolve) -> Term | None:
    parts: list[Term] = []
    for item in (node.this, *node.expressions):
        part = _term(item, resolve)
        if part is None:
            return None
        parts.append(part)
    return coalesce_terms(tuple(parts))


def _anonymous(node: exp.Expr, resolve: Resolve) -> Term | None:
    name = str(node.this).lower()
    if name in ("isnull", "isnotnull") and len(node.expressions) == 1:
        subject = _term(node.expressions[0], resolve)
        return None if subject is None else fold("isnull" if name == "isnull" else "notnull", (subject,))
    if name == "make_date" and len(node.expressions) == 3:
        parts = [_term(item, resolve) for item in node.expressions]
        if all(isinstance(part, Lit) and isinstance(part.value, Decimal) for part in parts):
            day = constant_value.day("-".join(f"{int(part.value):02}" for part in parts if isinstance(part, Lit)))
            if day is not None:
                return day
    return _generic(node, resolve)
