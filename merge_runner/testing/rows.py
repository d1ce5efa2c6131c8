"""Rows that a unit test gives or expects, as a query: each value is cast to the type of its column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

from merge_runner.errors import did_you_mean
from merge_runner.relation import quote, string_literal
from merge_runner.testing.csv_rows import CsvError, read_csv
from merge_runner.text import Place

Types = Mapping[str, str | None]
"""The data types of columns as the author writes them, in the order of the columns; None: not declared."""

_LARGEST_INT = 2**31 - 1
_BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}
_TIMES = frozenset({"timestamp", "timestamp_ntz", "timestamp_ltz"})
_BEGINS_A_TIME = re.compile(r"\s*[-+T]?\d")
"""Spark casts many forms to a timestamp (`2024`, `2024-01-02 3:04`, `T10:00`), and none that begins otherwise."""
_NUMBERS = frozenset({"decimal", "dec", "numeric", "double", "float", "real"})
_BOOLEANS = frozenset({"true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"})
"""What Spark casts to BOOLEAN (StringUtils.isTrueString and isFalseString)."""
_NESTED = ("array", "map", "struct")


class RowError(ValueError):
    """Rows that cannot be what a test gives or expects; `place` is that of the cell or name, where it is known."""

    def __init__(self, message: str, place: Place | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.place = place
        self.hint = hint


class RowPlaces(Protocol):
    """Where the rows of a test are written."""

    def cell(self, row: int, column: str) -> Place:
        """Return the place of a value; rows count from 1."""

    def name(self, column: str) -> Place:
        """Return the place of the first mention of a column: of all the rows where they are a query."""

    def text(self, offset: int) -> Place:
        """Return the place of a character of the CSV or SQL that gives the rows."""

    def whole(self) -> Place:
        """Return the place of all the rows."""


@dataclass(frozen=True)
class Rows:
    """Rows by column name, or a query (`sql`) that gives them. `as_text`: every value is a text, as in a CSV file."""

    values: tuple[Mapping[str, Any], ...] = ()
    sql: str | None = None
    as_text: bool = False
    places: RowPlaces | None = field(default=None, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that any of the values has, in the order of their first appearance; a query's are not known."""
        return tuple(_first_spelling(name for row in self.values for name in row).values())


def read_rows(rows: Iterable[Mapping[str, Any]] | str, form: str, places: RowPlaces | None = None) -> Rows:
    """Return the rows of a test in the format `form`: dict, csv or sql. Raises RowError for CSV that is none."""
    if not isinstance(rows, str):
        return Rows(tuple(rows), places=places)
    if form == "sql":
        return Rows(sql=rows, places=places)
    try:
        return Rows(read_csv(rows).values, as_text=True, places=places)
    except CsvError as error:
        raise RowError(str(error), places.text(error.offset) if places is not None else None) from None


def rows_query(rows: Rows, types: Types, names: Sequence[str] | None = None) -> str:
    """A query with the rows, in the columns of `types`; a column that a row does not have is NULL.

    A column that is not in `types` comes after them, as does one of type None: its type is that of its values. `known`
    are the columns of a query's rows. Raises RowError for a value that its type does not hold, with row and column.
    """
    spellings = _first_spelling(rows.names if names is None else names)
    columns = _first_spelling((*types, *spellings.values()))
    if not columns:
        hint = "declare its columns in YAML, with data_type: rows that are given would name them"
        place = rows.places.whole() if rows.places is not None else None
        raise RowError("no row is given, and no column is known", place, hint)
    types_by_name = {name.lower(): data_type for name, data_type in types.items()}
    if rows.sql is not None:
        return _over_query(rows.sql, columns, types_by_name, spellings)
    by_key = [{name.lower(): value for name, value in row.items()} for row in rows.values]
    data_types = {
        key: types_by_name.get(key) or _common_type((row.get(key) for row in by_key), rows.as_text) for key in columns
    }
    if not by_key:
        nothing = ", ".join(f"{_cast('NULL', data_types[key])} AS {quote(columns[key])}" for key in columns)
        return f"SELECT {nothing} WHERE false"
    lines = [
        "(" + ", ".join(_cell(rows, number, columns[key], row.get(key), data_types[key]) for key in columns) + ")"
        for number, row in enumerate(by_key, 1)
    ]
    names_inside = [f"c{number}" for number in range(len(columns))]
    selection = ", ".join(
        f"{_read_column(inside, data_types[key])} AS {quote(columns[key])}"
        for inside, key in zip(names_inside, columns, strict=True)
    )
    return (
        f"SELECT {selection} FROM VALUES\n  {(', ' + chr(10) + '  ').join(lines)}\nAS given({', '.join(names_inside)})"
    )


def check_names(rows: Rows, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise RowError for the first of the rows' column `names` that the table does not have."""
    columns = list(allowed)
    for name in names:
        if name.lower() not in {column.lower() for column in columns}:
            place = rows.places.name(name) if rows.places is not None else None
            raise RowError(f'the table has no column "{name}"', place, did_you_mean(name, columns))


def _first_spelling(names: Iterable[str]) -> dict[str, str]:
    """Return the names by their case-insensitive form: Spark's column names have no upper and lower case."""
    spellings: dict[str, str] = {}
    for name in names:
        spellings.setdefault(name.lower(), name)
    return spellings


def _over_query(sql: str, columns: Mapping[str, str], declared: Types, spellings: Mapping[str, str]) -> str:
    selection = []
    for key, name in columns.items():
        value = f"given.{quote(spellings[key])}" if key in spellings else "NULL"
        data_type = declared.get(key)
        selection.append(f"{_cast(value, data_type)} AS {quote(name)}")
    return f"SELECT {', '.join(selection)} FROM (\n{sql}\n) AS given"


def _cast(value: str, data_type: str | None) -> str:
    return value if data_type is None else f"CAST({value} AS {data_type})"


def _read_column(name: str, data_type: str | None) -> str:
    """What gives a column of text its type."""
    if data_type is not None and _is_nested(data_type):
        return f"from_json({name}, {string_literal(data_type)}, map('mode', 'FAILFAST'))"
    if data_type is not None and data_type.strip().lower() == "variant":
        return f"parse_json({name})"
    return _cast(name, data_type)


def _is_nested(data_type: str) -> bool:
    return data_type.strip().lower().startswith(_NESTED)


def _cell(rows: Rows, number: int, column: str, value: Any, data_type: str | None) -> str:
    """A value as a string literal that its type reads. Raises RowError."""
    try:
        return _text_of(value, data_type)
    except ValueError as error:
        place = rows.places.cell(number, column) if rows.places is not None else None
        raise RowError(f"row {number}, column {column}: {error}", place) from None


def _text_of(value: Any, data_type: str | None) -> str:
    """A value as a string literal that its type reads; NULL. Raises ValueError."""
    if value is None or data_type is None:
        return "NULL"
    if _is_nested(data_type) or data_type.strip().lower() == "variant":
        return string_literal(value if isinstance(value, str) else json.dumps(value, default=_plain))
    text = _plain(value)
    _check(text, data_type.strip().lower())
    return string_literal(text)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, (list, tuple, Mapping)):
        return json.dumps(value, default=_plain)
    return str(value)


def _check(text: str, data_type: str) -> None:
    """Raise for a text that Spark would read as another value, or as NULL where `ansi` is off."""
    kind = data_type.partition("(")[0].strip()
    readable = True
    try:
        if kind in _BITS:
            readable = -(1 << (_BITS[kind] - 1)) <= int(text) < 1 << (_BITS[kind] - 1)
        elif kind in _TIMES:
            readable = _BEGINS_A_TIME.match(text) is not None
        elif kind in _NUMBERS:
            Decimal(text)
        elif kind == "date":
            date.fromisoformat(text[:10])
        elif kind == "boolean":
            readable = text.lower() in _BOOLEANS
    except (ValueError, InvalidOperation):
        readable = False
    if not readable:
        raise ValueError(f"{text!r} is no {data_type}")


def _common_type(values: Iterable[Any], as_text: bool) -> str | None:
    """The type of values whose column has none; None where all are NULL, which fits every type."""
    non_null = [value for value in values if value is not None]
    if not non_null:
        return None
    if as_text:
        return "string"
    types = {_type_of(value) for value in non_null}
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
