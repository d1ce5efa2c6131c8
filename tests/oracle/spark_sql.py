"""Prints the oracle's statements as Spark SQL, as a person would write them; it shares nothing with merge_runner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal

from tests.oracle.expression import Call, Column, Expression, Literal, Value
from tests.oracle.merge import Assignments, Clause, Delete, Insert, Merge
from tests.oracle.query import SIDE, Arm, Query

Names = Callable[[str], str]
"""How a table is named in the text."""

_AFTER = ("is null", "is not null", "is true", "is not true")
_BINDING = {
    **dict.fromkeys(("or",), 1),
    **dict.fromkeys(("and",), 2),
    **dict.fromkeys(("not",), 3),
    **dict.fromkeys(("=", "<=>", "<>", "<", "<=", ">", ">=", "between", "in", "not in", *_AFTER), 4),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "%"), 6),
}
"""How strongly an operator binds; what binds no stronger stands in brackets inside it."""


def merge_text(merge: Merge, target: str, source: Query, table: Names, aliases: Mapping[str, str], *, cte: bool) -> str:
    """The statement; `aliases` are the names of the sides t and s. `cte`: the source stands in front, in WITH."""
    query = f"(\n{query_text(source, table)}\n)"
    using = table(source.arms[0].table) if source == Query((Arm(source.arms[0].table),)) else query
    lines = [
        *([f"with given as {query}"] if cte else []),
        f"merge into {target} as {aliases['t']}",
        f"using {'given' if cte else using} as {aliases['s']}",
        f"   on {expression_text(merge.on, aliases)}",
        *(_clause(clause, aliases) for clause in merge.clauses),
    ]
    return "\n".join(lines)


def query_text(query: Query, table: Names) -> str:
    """The query, without brackets."""
    text = "\nunion all\n".join(_arm(arm, table) for arm in query.arms)
    if not query.latest_by:
        return text
    keys, order = ", ".join(query.latest_by), ", ".join(query.ordered_by)
    return (
        f"select {order} from (\n"
        f"select *, row_number() over (partition by {keys} order by {order}) as nth from (\n{text}\n)\n"
        ") where nth = 1"
    )


def expression_text(expression: Expression, aliases: Mapping[str, str]) -> str:
    """An expression, in brackets where it needs them inside another; `aliases` name the sides, '' for none."""
    if isinstance(expression, Literal):
        return literal_text(expression.value, as_text=expression.as_text)
    if isinstance(expression, Column):
        alias = aliases[expression.side]
        return f"{alias}.{expression.name}" if alias else expression.name
    return _call(expression, [_inner(each, aliases, _BINDING.get(expression.name, 0)) for each in expression.args])


def literal_text(value: Value, *, as_text: bool = False) -> str:
    """A value as a literal of its type; `as_text`: as a string."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return f"'{value}'" if as_text else f"date'{value}'"
    if isinstance(value, Decimal):
        return f"{value:f}BD"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)


def _inner(expression: Expression, aliases: Mapping[str, str], around: int) -> str:
    text = expression_text(expression, aliases)
    binding = _BINDING.get(expression.name, 7) if isinstance(expression, Call) else 7
    return text if binding > around else f"({text})"


def _call(call: Call, args: list[str]) -> str:
    name = call.name
    if name == "not":
        return f"not {args[0]}"
    if name in _AFTER:
        return f"{args[0]} {name}"
    if name == "between":
        return f"{args[0]} between {args[1]} and {args[2]}"
    if name in ("in", "not in"):
        return f"{args[0]} {name} ({', '.join(args[1:])})"
    if name in _BINDING:
        return f" {name} ".join(args)
    if name == "starts with":
        return f"startswith({args[0]}, {args[1]})"
    if name == "case":
        pairs = zip(args[:-1:2], args[1:-1:2], strict=True)
        return "case " + " ".join(f"when {test} then {value}" for test, value in pairs) + f" else {args[-1]} end"
    return f"{name}({', '.join(args)})"


def _clause(clause: Clause, aliases: Mapping[str, str]) -> str:
    condition = f" and {_inner(clause.condition, aliases, 1)}" if clause.condition is not None else ""
    return f"when {clause.kind}{condition} then {_action(clause, aliases)}"


def _action(clause: Clause, aliases: Mapping[str, str]) -> str:
    action = clause.action
    if isinstance(action, Delete):
        return "delete"
    if isinstance(action, Insert):
        return "insert *" if action.assignments is None else f"insert {_inserted(action.assignments, aliases)}"
    if action.assignments is None:
        return "update set *"
    pairs = ((name, expression_text(value, aliases)) for name, value in action.assignments)
    return "update set " + ", ".join(f"{name} = {value}" for name, value in pairs)


def _inserted(assignments: Assignments, aliases: Mapping[str, str]) -> str:
    names = ", ".join(name for name, _ in assignments)
    values = ", ".join(expression_text(value, aliases) for _, value in assignments)
    return f"({names}) values ({values})"


def _arm(arm: Arm, table: Names) -> str:
    bare = {SIDE: ""}
    columns = "*"
    if arm.columns is not None:
        columns = ", ".join(_named(name, value, bare) for name, value in arm.columns)
    conditions = [] if arm.where is None else [_inner(arm.where, bare, 1)]
    if arm.newer is not None:
        column, known = arm.newer
        conditions.append(f"{column} > (select max({column}) from {table(known)})")
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return f"select {columns} from {table(arm.table)}{where}"


def _named(name: str, value: Expression, aliases: Mapping[str, str]) -> str:
    text = expression_text(value, aliases)
    return text if text == name else f"{text} as {name}"
