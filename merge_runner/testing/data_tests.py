"""Generic data tests as queries: each row that a query gives is a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from merge_runner.relation import Relation, quote, string_literal

Arguments = Mapping[str, Any]
_Maker = Callable[[str, str | None, Arguments], str]


def data_test_query(name: str, relation: Relation, column: str | None, arguments: Arguments, where: str | None) -> str:
    """The query of the generic test `name` on a relation (and one of its columns).

    `arguments` are the test's own, values as in YAML; `field`'s table is given as a Relation under `to`.
    Raises KeyError for a test that is not known and ValueError where an argument is missing or wrong.
    """
    table = f"{relation}" if where is None else f"(SELECT * FROM {relation} WHERE {where})"
    return _TESTS[name](table, quote(column) if column is not None else None, arguments)


def known_tests() -> frozenset[str]:
    """Names of the generic tests."""
    return frozenset(_TESTS)


def _not_null(table: str, column: str | None, arguments: Arguments) -> str:
    return f"SELECT * FROM {table} WHERE {_needed(column)} IS NULL"


def _unique(table: str, column: str | None, arguments: Arguments) -> str:
    name = _needed(column)
    return f"SELECT {name}, count(*) AS n FROM {table} WHERE {name} IS NOT NULL GROUP BY {name} HAVING count(*) > 1"


def _accepted_values(table: str, column: str | None, arguments: Arguments) -> str:
    values = _sequence(arguments, "values")
    as_text = arguments.get("quote", True)
    shown = ", ".join(
        string_literal(str(value)) if as_text or isinstance(value, str) else str(value) for value in values
    )
    name = _needed(column)
    return f"SELECT {name}, count(*) AS n FROM {table} WHERE {name} NOT IN ({shown}) GROUP BY {name}"


def _relationships(table: str, column: str | None, arguments: Arguments) -> str:
    name = _needed(column)
    field = quote(str(_argument(arguments, "field")))
    return (
        f"SELECT child.{name} FROM {table} AS child LEFT ANTI JOIN {_argument(arguments, 'to')} AS parent "
        f"ON child.{name} = parent.{field} WHERE child.{name} IS NOT NULL"
    )


def _expression_is_true(table: str, column: str | None, arguments: Arguments) -> str:
    expression = str(_argument(arguments, "expression"))
    tested = f"{column} {expression}" if column is not None else expression
    return f"SELECT * FROM {table} WHERE NOT coalesce({tested}, false)"


def _unique_combination(table: str, column: str | None, arguments: Arguments) -> str:
    columns = ", ".join(quote(str(name)) for name in _sequence(arguments, "combination_of_columns"))
    return f"SELECT {columns}, count(*) AS n FROM {table} GROUP BY {columns} HAVING count(*) > 1"


_TESTS: dict[str, _Maker] = {
    "not_null": _not_null,
    "unique": _unique,
    "accepted_values": _accepted_values,
    "relationships": _relationships,
    "expression_is_true": _expression_is_true,
    "unique_combination_of_columns": _unique_combination,
}


def _needed(column: str | None) -> str:
    if column is None:
        raise ValueError("it belongs under a column")
    return column


def _argument(arguments: Arguments, name: str) -> Any:
    if name not in arguments:
        raise ValueError(f"argument `{name}` is missing")
    return arguments[name]


def _sequence(arguments: Arguments, name: str) -> Sequence[Any]:
    value = _argument(arguments, name)
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(f"argument `{name}` must be a list with at least one item")
    return value
