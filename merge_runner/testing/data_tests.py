"""Generic data tests as queries: each row that a query gives is a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from merge_runner.relation import Relation, quote, string_literal

Arguments = Mapping[str, Any]
_Maker = Callable[[str, str | None, Arguments], str]
_COUNT = "n_records"
"""dbt's name of the number of rows with a value, which `fail_calc: sum(n_records)` may name."""


def data_test_query(name: str, relation: Relation, column: str | None, arguments: Arguments, where: str | None) -> str:
    """The query of the generic test `name` on a relation (and one of its columns).

    `arguments` are the test's own, values as in YAML; `field`'s table is given as a Relation under `to`. Of a test that
    stands below no column, `column_name` may be a column or an expression, which is taken as it is written.
    Raises KeyError for a test that is not known and ValueError where an argument is missing or wrong.
    """
    table = f"{relation}" if where is None else f"(SELECT * FROM {relation} WHERE {where})"
    tested = arguments.get("column_name") if column is None else quote(column)
    return _TESTS[name](table, str(tested) if tested is not None else None, arguments)


def known_tests() -> frozenset[str]:
    """Names of the generic tests."""
    return frozenset(_TESTS)


def is_narrow(name: str) -> bool:
    """Return whether the query of a generic test gives no column but those that it needs to find failures."""
    return name not in ("not_null", "expression_is_true")


def _not_null(table: str, column: str | None, arguments: Arguments) -> str:
    return f"SELECT * FROM {table} WHERE {_needed(column)} IS NULL"


def _unique(table: str, column: str | None, arguments: Arguments) -> str:
    name = _needed(column)
    return (
        f"SELECT {name}, count(*) AS {_COUNT} FROM {table} WHERE {name} IS NOT NULL GROUP BY {name} HAVING count(*) > 1"
    )


def _accepted_values(table: str, column: str | None, arguments: Arguments) -> str:
    values = _sequence(arguments, "values")
    as_text = arguments.get("quote", True)
    allowed_values = ", ".join(
        string_literal(str(value)) if as_text or isinstance(value, str) else str(value) for value in values
    )
    name = _needed(column)
    return f"SELECT {name}, count(*) AS {_COUNT} FROM {table} WHERE {name} NOT IN ({allowed_values}) GROUP BY {name}"


def _relationships(table: str, column: str | None, arguments: Arguments) -> str:
    name = _needed(column)
    field = quote(str(_argument(arguments, "field")))
    child = f"{table} AS child"
    if "column_name" in arguments:
        child, name = f"(SELECT {name} AS from_field FROM {table}) AS child", "from_field"
    return (
        f"SELECT child.{name} FROM {child} LEFT ANTI JOIN {_argument(arguments, 'to')} AS parent "
        f"ON child.{name} = parent.{field} WHERE child.{name} IS NOT NULL"
    )


def _expression_is_true(table: str, column: str | None, arguments: Arguments) -> str:
    expression = str(_argument(arguments, "expression"))
    tested = f"{column} {expression}" if column is not None else expression
    return f"SELECT * FROM {table} WHERE NOT coalesce({tested}, false)"


def _unique_combination(table: str, column: str | None, arguments: Arguments) -> str:
    key = "columns" if "columns" in arguments else "combination_of_columns"
    columns = ", ".join(quote(str(name)) for name in _sequence(arguments, key))
    return f"SELECT {columns}, count(*) AS {_COUNT} FROM {table} GROUP BY {columns} HAVING count(*) > 1"


def _recency(table: str, column: str | None, arguments: Arguments) -> str:
    """A group without any value is not recent, nor is a table without rows (dbt_utils lets both pass)."""
    field = str(arguments.get("field") or _needed(column))
    unit, interval = str(_argument(arguments, "datepart")).upper(), int(_argument(arguments, "interval"))
    kind = "DATE" if arguments.get("ignore_time_component") else "TIMESTAMP"
    since = f"CAST(timestampadd({unit}, {-interval}, current_timestamp()) AS {kind})"
    by = [quote(str(name)) for name in arguments.get("group_by_columns") or ()]
    groups, grouped = "".join(f"{name}, " for name in by), f" GROUP BY {', '.join(by)}" if by else ""
    most_recent = f"CAST(max({field}) AS {kind})"
    return (
        f"SELECT {groups}{most_recent} AS most_recent FROM {table}{grouped} "
        f"HAVING {most_recent} IS NULL OR {most_recent} < {since}"
    )


def _row_count_between(table: str, column: str | None, arguments: Arguments) -> str:
    smallest, largest = arguments.get("min_value"), arguments.get("max_value")
    outside = [f"count(*) < {int(smallest)}"] if smallest is not None else []
    outside += [f"count(*) > {int(largest)}"] if largest is not None else []
    if not outside:
        raise ValueError("it needs `min_value`, `max_value` or both")
    return f"SELECT count(*) AS row_count FROM {table} HAVING {' OR '.join(outside)}"


_TESTS: dict[str, _Maker] = {
    "not_null": _not_null,
    "unique": _unique,
    "accepted_values": _accepted_values,
    "relationships": _relationships,
    "expression_is_true": _expression_is_true,
    "unique_combination": _unique_combination,
    "unique_combination_of_columns": _unique_combination,
    "recency": _recency,
    "row_count_between": _row_count_between,
}


def _needed(column: str | None) -> str:
    if column is None:
        raise ValueError("it belongs under a column, or needs a `column_name`")
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
