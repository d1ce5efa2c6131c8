"""Rows that a unit test gives or expects, as a query: each value is cast to the type of its column."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from merge_runner.errors import did_you_mean
from merge_runner.relation import quote, string_literal

Types = Mapping[str, str | None]
"""The data types of columns as the author writes them, in the order of the columns; None: not declared."""

_LARGEST_INT = 2**31 - 1
_WHOLE = frozenset({"tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long"})
_NUMBERS = frozenset({"decimal", "dec", "numeric", "double", "float", "real"})
_BOOLEANS = frozenset({"true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"})
"""What Spark casts to BOOLEAN (StringUtils.isTrueString and isFalseString)."""
_NESTED = ("array", "map", "struct")


@dataclass(frozen=True)
class Rows:
    """Rows by column name, or a query (`sql`) that gives them. `as_text`: every value is a text, as in a CSV file."""

    values: tuple[Mapping[str, Any], ...] = ()
    sql: str | None = None
    as_text: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that any of the values has, in the order of their first appearance; a query's are not known."""
        return tuple(_first_spelling(name for row in self.values for name in row).values())


def read_rows(rows: Iterable[Mapping[str, Any]] | str, form: str) -> Rows:
    """The rows of a test in the format `form`: dict, csv or sql. Raises ValueError for CSV that is none."""
    if not isinstance(rows, str):
        return Rows(tuple(rows))
    return Rows(sql=rows) if form == "sql" else Rows(tuple(_csv(rows)), as_text=True)


def rows_query(rows: Rows, types: Types, known: Sequence[str] | None = None) -> str:
    """A query with the rows, in the columns of `types`; a column that a row does not have is NULL.

    A column that is not in `types` comes behind them, as does one of type None: its type is that of its values. `known`
    are the columns of a query's rows. Raises ValueError for a value that its type does not hold, with row and column.
    """
    given = _first_spelling(rows.names if known is None else known)
    columns = _first_spelling((*types, *given.values()))
    if not columns:
        raise ValueError("it has no columns: declare them in YAML, with data_type")
    declared = {name.lower(): data_type for name, data_type in types.items()}
    if rows.sql is not None:
        return _over_query(rows.sql, columns, declared, given)
    by_key = [{name.lower(): value for name, value in row.items()} for row in rows.values]
    data_types = {
        key: declared.get(key) or _common_type((row.get(key) for row in by_key), rows.as_text) for key in columns
    }
    if not by_key:
        nothing = ", ".join(f"{_cast('NULL', data_types[key])} AS {quote(columns[key])}" for key in columns)
        return f"SELECT {nothing} WHERE false"
    lines = [
        "("
        + ", ".join(_text_of(row.get(key), data_types[key], f"row {number}, column {columns[key]}") for key in columns)
        + ")"
        for number, row in enumerate(by_key, 1)
    ]
    names_inside = [f"c{number}" for number in range(len(columns))]
    shown = ", ".join(
        f"{_read(inside, data_types[key])} AS {quote(columns[key])}"
        for inside, key in zip(names_inside, columns, strict=True)
    )
    return f"SELECT {shown} FROM VALUES\n  {(', ' + chr(10) + '  ').join(lines)}\nAS given({', '.join(names_inside)})"


def check_names(names: Iterable[str], allowed: Iterable[str], table: str) -> None:
    """Raises ValueError for the first of the names that the table does not have."""
    known = list(allowed)
    for name in names:
        if name.lower() not in {each.lower() for each in known}:
            hint = did_you_mean(name, known)
            raise ValueError(f'{table} has no column "{name}"' + (f": {hint}" if hint else ""))


def _first_spelling(names: Iterable[str]) -> dict[str, str]:
    """The names by what tells them apart: Spark's names do not know upper and lower case."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name.lower(), name)
    return found


def _csv(text: str) -> Iterable[Mapping[str, Any]]:
    lines = [row for row in csv.reader(io.StringIO(text.strip("\r\n")), skipinitialspace=True) if row]
    if not lines:
        return
    header = [name.strip() for name in lines[0]]
    for number, row in enumerate(lines[1:], 1):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} values, and the header {len(header)} names")
        yield {name: value if value != "" else None for name, value in zip(header, row, strict=True)}


def _over_query(sql: str, columns: Mapping[str, str], declared: Types, given: Mapping[str, str]) -> str:
    shown = []
    for key, name in columns.items():
        value = f"given.{quote(given[key])}" if key in given else "NULL"
        data_type = declared.get(key)
        shown.append(f"{_cast(value, data_type)} AS {quote(name)}")
    return f"SELECT {', '.join(shown)} FROM (\n{sql}\n) AS given"


def _cast(value: str, data_type: str | None) -> str:
    return value if data_type is None else f"CAST({value} AS {data_type})"


def _read(name: str, data_type: str | None) -> str:
    """What gives a column of text its type."""
    if data_type is not None and _is_nested(data_type):
        return f"from_json({name}, {string_literal(data_type)}, map('mode', 'FAILFAST'))"
    if data_type is not None and data_type.strip().lower() == "variant":
        return f"parse_json({name})"
    return _cast(name, data_type)


def _is_nested(data_type: str) -> bool:
    return data_type.strip().lower().startswith(_NESTED)


def _text_of(value: Any, data_type: str | None, where: str) -> str:
    """A value as a string literal that its type reads; NULL."""
    if value is None or data_type is None:
        return "NULL"
    if _is_nested(data_type) or data_type.strip().lower() == "variant":
        return string_literal(value if isinstance(value, str) else json.dumps(value, default=_plain))
    text = _plain(value)
    _check(text, data_type.strip().lower(), where)
    return string_literal(text)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, (list, tuple, Mapping)):
        return json.dumps(value, default=_plain)
    return str(value)


def _check(text: str, data_type: str, where: str) -> None:
    """What Spark would read as another value, or as NULL where `ansi` is off, is told of the row that holds it."""
    kind = data_type.partition("(")[0].strip()
    try:
        if kind in _WHOLE:
            int(text)
        elif kind in _NUMBERS:
            Decimal(text)
        elif kind == "date":
            date.fromisoformat(text[:10])
        readable = kind != "boolean" or text.lower() in _BOOLEANS
    except (ValueError, InvalidOperation):
        readable = False
    if not readable:
        raise ValueError(f"{where}: {text!r} is no {data_type}")


def _common_type(values: Iterable[Any], as_text: bool) -> str | None:
    """The type of values whose column has none; None where all are NULL, which fits every type."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    if as_text:
        return "string"
    types = {_type_of(value) for value in found}
    if len(types) == 1:
        return types.pop()
    for wider in ("bigint", "double"):
        if types <= {"int", "bigint", "double"} and wider in types:
            return wider
    return "timestamp" if types == {"date", "timestamp"} else "string"


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "int" if abs(value) <= _LARGEST_INT else "bigint"
    if isinstance(value, float):
        return "double"
    if isinstance(value, datetime):
        return "timestamp"
    if isinstance(value, date):
        return "date"
    if isinstance(value, (list, tuple)):
        return f"array<{_common_type(value, False) or 'string'}>"
    if isinstance(value, Mapping):
        fields = ", ".join(
            f"{quote(str(key))}: {_common_type([item], False) or 'string'}" for key, item in value.items()
        )
        return f"struct<{fields}>"
    return "string"
