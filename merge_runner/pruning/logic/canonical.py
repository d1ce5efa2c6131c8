"""Expressions in one form, so that those that say the same compare as equal wherever their columns come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from sqlglot import exp

from merge_runner.pruning.logic import constant_value as literal
from merge_runner.pruning.logic.constant_value import FALSE, NULL, TRUE, Lit


class Col(NamedTuple):
    """A column: its name case folded, and the names of the fields below it. `relation` 0 is the output of a query."""

    relation: int
    name: str
    path: tuple[str, ...] = ()


class Call(NamedTuple):
    """Anything that is made of other terms: a function, an operator, a condition.

    Conditions are `and`, `or`, `=`, `<=>`, `<>`, `<`, `<=`, `>`, `>=`, `in`, `notin` (a term, then the constants),
    `isnull`, `notnull`, `not`, and `opaque`: one that cannot be read, with the columns in it.
    """

    name: str
    args: tuple[Term, ...]


Term = Col | Lit | Call
Resolve = Callable[["exp.Expr"], "Term | None"]
"""Gives the term of a column's node; None where it is not known which column that is."""

FLIPPED = {"=": "=", "<=>": "<=>", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
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


def term(node: exp.Expr, resolve: Resolve) -> Term | None:
    """The term of a value; None where it holds something that cannot be read, or is another value each time."""
    try:
        return _term(node, resolve)
    except RecursionError:
        return None


def condition(node: exp.Expr, resolve: Resolve) -> Term:
    """The term of a condition, with NOT pushed inward; `opaque` where it cannot be read."""
    try:
        return _condition(node, resolve, False)
    except RecursionError:
        return Call("opaque", ())


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The conditions that a condition joins by AND."""
    return term.args if isinstance(term, Call) and term.name == "and" else (term,)


def columns(term: Term) -> Iterator[Col]:
    """The columns of a term, each as often as it is there."""
    if isinstance(term, Col):
        yield term
    elif isinstance(term, Call):
        for argument in term.args:
            yield from columns(argument)


def is_constant(term: Term) -> bool:
    """Whether no column is in the term."""
    return isinstance(term, Lit) or next(columns(term), None) is None


def replaced(term: Term, replacement: Callable[[Term], Term | None]) -> Term:
    """The term with each largest part for which there is a replacement exchanged, and folded again."""
    found = replacement(term)
    if found is not None:
        return found
    if isinstance(term, Call):
        arguments = tuple(replaced(argument, replacement) for argument in term.args)
        if arguments != term.args:
            return _folded(term.name, arguments)
    return term


def compared(name: str, left: Term, right: Term) -> Term:
    """A comparison, folded where both sides are constants; a constant is on the right."""
    left_constant, right_constant = is_constant(left), is_constant(right)
    if isinstance(left, Lit) and isinstance(right, Lit):
        truth = _truth(name, left, right)
        if truth is not None:
            return truth
    if name == "=" and right == TRUE and isinstance(left, Call) and left.name in _CONDITIONS:
        return left
    if (left_constant and not right_constant) or (left_constant == right_constant and repr(right) < repr(left)):
        name, left, right = FLIPPED[name], right, left
    if name == "<=>" and right == NULL:
        return Call("isnull", (left,))
    if NULL in (left, right):
        return NULL
    if name == "<>" and right in (TRUE, FALSE):
        return Call("=", (left, FALSE if right == TRUE else TRUE))
    return Call(name, (left, right))


def negated(term: Term) -> Term:
    """The condition that is true where the given one is false."""
    if isinstance(term, Lit):
        return NULL if term.kind != "bool" else FALSE if term.value else TRUE
    if isinstance(term, Call):
        opposite = _OPPOSITES.get(term.name)
        if opposite is not None:
            return Call(opposite, term.args)
        if term.name == "<=>" and isinstance(term.args[1], Lit):
            return _joined("or", [Call("isnull", term.args[:1]), compared("<>", *term.args)])
        if term.name in ("and", "or"):
            return _joined("or" if term.name == "and" else "and", [negated(argument) for argument in term.args])
        if term.name == "not":
            return term.args[0]
        if term.name == "opaque":
            return term
    if isinstance(term, Col):
        return Call("=", (term, FALSE))
    return Call("not", (term,))


_OPPOSITES = {**NEGATED, "in": "notin", "notin": "in", "isnull": "notnull", "notnull": "isnull"}
_CONDITIONS = frozenset({*_OPPOSITES, "and", "or", "not", "opaque", "<=>"})


def _truth(name: str, left: Lit, right: Lit) -> Lit | None:
    if NULL in (left, right):
        return Lit("bool", left == right) if name == "<=>" else NULL
    order = literal.compare(left, right)
    return None if order is None else Lit("bool", holds(name, order))


def holds(name: str, order: int) -> bool:
    """Whether a comparison is true of two values that are in the given order."""
    return {
        "=": order == 0,
        "<=>": order == 0,
        "<>": order != 0,
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
    }[name]


def _joined(name: str, parts: list[Term]) -> Term:
    neutral, final = (TRUE, FALSE) if name == "and" else (FALSE, TRUE)
    flat: list[Term] = []
    for part in parts:
        if isinstance(part, Call) and part.name == name:
            flat += part.args
        elif part == final:
            return final
        elif part != neutral:
            flat.append(part)
    if not flat:
        return neutral
    if name == "or" and len(flat) == 2 and (equal := _null_safe(*flat) or _null_safe(*reversed(flat))) is not None:
        return equal
    return flat[0] if len(flat) == 1 else Call(name, tuple(flat))


def _null_safe(one: Term, other: Term) -> Call | None:
    """`a = b OR (a IS NULL AND b IS NULL)` as `a <=> b`."""
    if not (isinstance(one, Call) and one.name == "=" and isinstance(other, Call) and other.name == "and"):
        return None
    empty = {part.args[0] for part in other.args if isinstance(part, Call) and part.name == "isnull"}
    return Call("<=>", one.args) if len(other.args) == 2 and empty == set(one.args) else None


def _folded(name: str, arguments: tuple[Term, ...]) -> Term:
    """A call of new arguments, folded like those made of text."""
    first = arguments[0] if arguments else NULL
    if name in FLIPPED:
        return compared(name, first, arguments[1])
    if name in ("and", "or"):
        return _joined(name, list(arguments))
    if name in ("in", "notin"):
        return _listed(name, first, arguments[1:])
    if name in ("isnull", "notnull") and isinstance(first, Lit):
        return Lit("bool", (first == NULL) == (name == "isnull"))
    if name == "not":
        return negated(first)
    if name == "coalesce":
        return _coalesced(arguments)
    if isinstance(first, Lit):
        folded = _folded_call(name, first, arguments)
        if folded is not None:
            return folded
    return Call(name, arguments)


def _folded_call(name: str, first: Lit, arguments: tuple[Term, ...]) -> Lit | None:
    if name.startswith(("cast:", "try_cast:")):
        return literal.cast(first, name.partition(":")[2].partition("(")[0])
    if name.startswith("trunc:"):
        return literal.truncated(first, name[6:])
    if name == "neg":
        return Lit("number", -first.value) if first.kind == "number" else None
    second = arguments[1] if len(arguments) == 2 else None
    if not isinstance(second, Lit):
        return None
    if name in ("+", "-", "*") and first.kind == second.kind == "number":
        left, right = first.value, second.value
        return Lit("number", left + right if name == "+" else left - right if name == "-" else left * right)
    if name in ("+", "-"):
        return literal.plus(first, second, 1 if name == "+" else -1)
    if name == "date_add":
        start = literal.cast(first, "date")
        return literal.plus(start, second, 1) if start else None
    if name == "add_months" and second.kind == "number":
        start = literal.cast(first, "date")
        return literal.plus(start, Lit("interval", (int(second.value), 0)), 1) if start else None
    return None


def _listed(name: str, subject: Term, values: tuple[Term, ...]) -> Term:
    if len(values) == 1:
        return compared("=" if name == "in" else "<>", subject, values[0])
    if isinstance(subject, Lit) and len(values) <= _MANY:
        single = [compared("=" if name == "in" else "<>", subject, value) for value in values]
        return _joined("or" if name == "in" else "and", single)
    return Call(name, (subject, *values))


_MANY = 1000


def _coalesced(arguments: tuple[Term, ...]) -> Term:
    kept: list[Term] = []
    for argument in arguments:
        if argument == NULL:
            continue
        kept.append(argument)
        if isinstance(argument, Lit):
            break
    if not kept:
        return NULL
    return kept[0] if len(kept) == 1 else Call("coalesce", tuple(kept))


def _condition(node: exp.Expr, resolve: Resolve, negate: bool) -> Term:

    while isinstance(node, exp.Paren | exp.Not):
        negate ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.And | exp.Or):
        name = "and" if isinstance(node, exp.And) is not negate else "or"
        return _joined(name, [_condition(part, resolve, negate) for part in node.flatten()])
    found = _term(node, resolve)
    if found is None:
        seen = [resolve(column) for column in node.find_all(exp.Column)]
        return Call("opaque", tuple(column for item in seen if item is not None for column in columns(item)))
    if negate:
        return negated(found)
    return Call("=", (found, TRUE)) if isinstance(found, Col) else found


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
                found = _term(item, resolve)
                if found is None:
                    return None
                arguments.append(found)
            elif item is not None:
                arguments.append(Lit("argument", (key, item)))
    return Call(name, tuple(arguments))


Handler = Callable[["exp.Expr", Resolve], "Term | None"]


@cache
def _handlers() -> dict[type[exp.Expr], Handler]:

    def comparison(name: str) -> Handler:
        def read(node: exp.Expr, resolve: Resolve) -> Term | None:
            left, right = _term(node.this, resolve), _term(node.expression, resolve)
            return None if left is None or right is None else compared(name, left, right)

        return read

    def call(name: str, *keys: str) -> Handler:
        def read(node: exp.Expr, resolve: Resolve) -> Term | None:
            arguments = []
            for key in keys:
                found = _term(node.args[key], resolve) if node.args.get(key) is not None else NULL
                if found is None:
                    return None
                arguments.append(found)
            return _folded(name, tuple(arguments))

        return read

    def column(node: exp.Expr, resolve: Resolve) -> Term | None:
        return None if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) else resolve(node)

    def boolean_condition(node: exp.Expr, resolve: Resolve) -> Term | None:
        found = _condition(node, resolve, False)
        return None if _has_opaque(found) else found

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
            exp.CurrentDate: lambda node, resolve: literal.TODAY if not node.this else None,
            exp.CurrentTimestamp: lambda node, resolve: literal.NOW if not node.this else None,
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


def _has_opaque(term: Term) -> bool:
    return isinstance(term, Call) and (term.name == "opaque" or any(_has_opaque(part) for part in term.args))


def _dot(node: exp.Expr, resolve: Resolve) -> Term | None:
    from merge_runner.pruning.predicate.scope import name_parts

    return resolve(node) if name_parts(node) else _generic(node, resolve)


def _literal(node: exp.Expr) -> Term | None:
    return Lit("text", node.this) if node.is_string else literal.number(str(node.this))


def _between(node: exp.Expr, resolve: Resolve) -> Term | None:
    subject, low, high = (_term(node.args[key], resolve) for key in ("this", "low", "high"))
    if subject is None or low is None or high is None:
        return None
    return _joined("and", [compared(">=", subject, low), compared("<=", subject, high)])


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
    if not all(isinstance(value, Lit) for value in values) and len(values) <= _MANY:
        return _joined("or", [compared("=", subject, value) for value in values])
    return _listed("in", subject, tuple(value for value in values if value != NULL) or (NULL,))


def _is(node: exp.Expr, resolve: Resolve) -> Term | None:

    subject = _term(node.this, resolve)
    if subject is None:
        return None
    if isinstance(node.expression, exp.Null):
        return _folded("isnull", (subject,))
    value = _term(node.expression, resolve)
    return None if value is None else compared("<=>", subject, value)


def _distinct(node: exp.Expr, resolve: Resolve) -> Term | None:
    left, right = _term(node.this, resolve), _term(node.expression, resolve)
    return None if left is None or right is None else negated(compared("<=>", left, right))


def _cast(node: exp.Expr, resolve: Resolve) -> Term | None:
    from merge_runner.pruning.predicate.expression_type import declared_type

    subject = _term(node.this, resolve)
    if subject is None:
        return None
    to = declared_type(node.args["to"])
    name = "try_cast" if isinstance(node, exp.TryCast) else "cast"  # the one gives NULL where the other raises
    return _folded(f"{name}:{to}", (subject,)) if to is not None else _generic(node, resolve)


def _to_date(node: exp.Expr, resolve: Resolve) -> Term | None:
    if node.args.get("format") is not None:
        return _generic(node, resolve)
    subject = _term(node.this, resolve)
    return None if subject is None else _folded("cast:date", (subject,))


def _trunc(node: exp.Expr, resolve: Resolve) -> Term | None:
    subject = _term(node.this, resolve)
    unit = node.args.get("unit")
    word = _UNITS.get(unit.name.lower()) if unit is not None else None
    if subject is None:
        return None
    return _folded(f"trunc:{word}", (subject,)) if word else _generic(node, resolve)


def _interval(node: exp.Expr, resolve: Resolve) -> Term | None:
    value, unit = node.this, node.args.get("unit")
    if value is None or unit is None or (not value.is_string and not value.is_number):
        return _generic(node, resolve)
    number = literal.number(value.name)
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
    return _coalesced(tuple(parts))


def _anonymous(node: exp.Expr, resolve: Resolve) -> Term | None:
    name = str(node.this).lower()
    if name in ("isnull", "isnotnull") and len(node.expressions) == 1:
        subject = _term(node.expressions[0], resolve)
        return None if subject is None else _folded("isnull" if name == "isnull" else "notnull", (subject,))
    if name == "make_date" and len(node.expressions) == 3:
        parts = [_term(item, resolve) for item in node.expressions]
        if all(isinstance(part, Lit) and isinstance(part.value, Decimal) for part in parts):
            found = literal.day("-".join(f"{int(part.value):02}" for part in parts if isinstance(part, Lit)))
            if found is not None:
                return found
    return _generic(node, resolve)
