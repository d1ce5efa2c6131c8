"""Values of a column as Spark's literals: exactly the value, whatever the session's settings, in the column's own type.

An equality compares two types by Spark's rules of coercion. Only pairs of types are known here whose comparison is that
of the values themselves, so that a value is written in the column's type, or equals none of the column's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

from merge_runner.formats.types import DataType, parse_type

_WHOLE = {"tinyint": (1 << 7, "Y"), "smallint": (1 << 15, "S"), "int": (1 << 31, ""), "bigint": (1 << 63, "L")}
_WIDE = Context(prec=80)
"""Spark's decimals have up to 38 digits; of two together, twice as many."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DAY_ZERO = date(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_ASCII_END = 0x80
_LAST_CHARACTER = b"\xf4\x8f\xbf\xbf"
"""U+10FFFF."""
_FIRST_PRINTABLE = " "
_ESCAPED = frozenset("'\\\x7f")


class OutOfRangeError(Exception):
    """A value that no literal can say: a date before the year 1 or after 9999, or a text beyond all characters."""


def _as_it_is(key: Any) -> tuple[Any, Any]:
    return key, key


@dataclass(frozen=True)
class LiteralType:
    """How values of one type are compared with a column of another, and written.

    `key` is SQL with `{value}` for an expression of the value's type: it gives a text or whole number that orders as
    Spark orders the values. `literal` is Spark's literal of a key, or None for a key that no value of the column
    equals; it raises OutOfRangeError. `step`: keys are whole numbers, or decimals, on a line (None: texts); what lies
    less than a step apart has no other key between. `ends` gives two keys around one that the statistics of each file
    with that value meet, whatever they hold in its place.
    """

    key: str
    literal: Callable[[Any], str | None]
    step: Decimal | None = None
    ends: Callable[[Any], tuple[Any, Any]] = _as_it_is


def literal_type(column: DataType, value: DataType) -> LiteralType | None:
    """How a value's type is compared with a column's; None where that is not known to be exact."""
    maker = _MAKERS.get(column.name)
    return maker(column, value) if maker is not None else None


def exact_type(text: str | None) -> DataType | None:
    """Return the type of a DDL text; None where it is not known, or a collation makes different texts equal."""
    return None if text is None or re.search(r"\bcollate\b", text, re.IGNORECASE) else parse_type(text)


def literal_of_text(kind: DataType, text: str) -> str | None:
    """Return the literal of a value that Spark has cast to a text; of a timestamp, of its microseconds since 1970.

    None where no literal is known to be exactly the value.
    """
    own, pattern = literal_type(kind, kind), _TEXTS.get(kind.name)
    if own is None or pattern is None or re.fullmatch(pattern, text, re.DOTALL | re.ASCII) is None:
        return None
    try:
        return own.literal(_key(kind.name, text))
    except (ValueError, OutOfRangeError):
        return None  # a date that Python does not have, or a text that is not Unicode


def text_literal(text: str) -> str:
    """Return a text as Spark's literal, which no setting of its parser changes. Raises UnicodeEncodeError."""
    return string_literal_of(text.encode().hex())


_TEXTS = {
    **dict.fromkeys((*_WHOLE, "timestamp"), r"-?\d{1,19}"),
    **{"date": r"\d{4}-\d\d-\d\d", "decimal": r"-?\d+(\.\d+)?", "string": r".*", "boolean": "true|false"},
}
"""The texts of values by type; one in another form is left to the caller."""


def _key(kind: str, text: str) -> Decimal | int | str:
    if kind == "date":
        return (date.fromisoformat(text) - _DAY_ZERO).days
    if kind == "boolean":
        return int(text == "true")
    return text.encode().hex() if kind == "string" else Decimal(text)


def _whole(column: DataType, value: DataType) -> LiteralType | None:
    limit, suffix = _WHOLE[column.name]

    def literal(key: Decimal | int) -> str | None:
        return f"{int(key)}{suffix}" if key == int(key) and -limit <= key < limit else None

    if value.name in _WHOLE:
        return LiteralType("cast({value} as bigint)", literal, Decimal(1))
    # A whole number that no bigint holds equals no column; a decimal with a fraction equals none either.
    return LiteralType("{value}", literal, Decimal(1)) if value.name == "decimal" else None


def _decimal(column: DataType, value: DataType) -> LiteralType | None:
    precision, scale = column.precision or 10, column.scale or 0
    step = Decimal(1).scaleb(-scale)

    def literal(key: Decimal | int) -> str | None:
        number = Decimal(key)
        if number.copy_abs() >= Decimal(10) ** (precision - scale) or number != (
            rounded := number.quantize(step, context=_WIDE)
        ):
            return None
        return f"CAST('{rounded:f}' AS DECIMAL({precision}, {scale}))"

    if value.name in _WHOLE:
        return LiteralType("cast({value} as decimal(20, 0))", literal, step)
    return LiteralType("{value}", literal, step) if value.name == "decimal" else None


def _date(column: DataType, value: DataType) -> LiteralType | None:
    source = _cast(column, value)
    return LiteralType(f"unix_date({source})", _date_literal, Decimal(1)) if source else None


def _timestamp(column: DataType, value: DataType) -> LiteralType | None:
    source = _cast(column, value)
    return LiteralType(f"unix_micros({source})", _timestamp_literal, Decimal(1)) if source else None


def _timestamp_ntz(column: DataType, value: DataType) -> LiteralType | None:
    if value.name != column.name:
        return None
    # As if the clock on the wall were that of UTC: a number on a line, without leaps.
    key = "unix_micros(cast(cast({value} as string) || 'Z' as timestamp))"
    return LiteralType(key, _timestamp_ntz_literal, Decimal(1))


def _cast(column: DataType, value: DataType) -> str | None:
    """The value in the column's type, as a comparison casts it: what is no date is an error, without ANSI mode NULL.

    Delta computes nothing of the source where the filter leaves no file, so that the MERGE would not fail for it.
    """
    if value.name == column.name:
        return "{value}"
    return f"cast({{value}} as {column.name})" if _is_string(value) else None


def _string(column: DataType, value: DataType) -> LiteralType | None:
    plain = _is_string(column) and _is_string(value)
    return LiteralType("hex(cast({value} as binary))", string_literal_of, ends=_text_ends) if plain else None


def _text_ends(key: str) -> tuple[str, str]:
    """Return the first and the last text that begins as a text does before its first character beyond ASCII.

    The statistics of Delta 4.4.0 and Iceberg 1.12.0 have U+FFFD in the place of bytes that are no UTF-8. A file with
    the bytes 80 and `é` (C3 A9) says that its smallest value is U+FFFD (EF BF BD), which is larger than `é`.
    """
    text = bytes.fromhex(key)
    start = next((place for place, byte in enumerate(text) if byte >= _ASCII_END), None)
    if start is None:
        return key, key
    if text[start:] >= _LAST_CHARACTER:
        raise OutOfRangeError(f"the bytes {key} of a text")
    first = text[:start]
    return first.hex().upper(), (first + _LAST_CHARACTER).hex().upper()


def _is_string(data_type: DataType) -> bool:
    return data_type.name == "string"


def _boolean(column: DataType, value: DataType) -> LiteralType | None:
    if value.name != "boolean":
        return None
    return LiteralType("cast({value} as int)", lambda key: "true" if key else "false", Decimal(1))


_MAKERS: dict[str, Callable[[DataType, DataType], LiteralType | None]] = {
    **dict.fromkeys(_WHOLE, _whole),
    "decimal": _decimal,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp_ntz,
    "string": _string,
    "boolean": _boolean,
}


def _date_literal(days: int) -> str:
    try:
        return f"DATE '{_DAY_ZERO + timedelta(days=int(days))}'"
    except OverflowError as error:
        raise OutOfRangeError(f"{days} days since 1970") from error


def _timestamp_literal(micros: int) -> str:
    return f"TIMESTAMP '{_wall(micros)}Z'"


def _timestamp_ntz_literal(micros: int) -> str:
    return f"TIMESTAMP_NTZ '{_wall(micros)}'"


def _wall(micros: int) -> str:
    try:
        return (_EPOCH + int(micros) * _MICROSECOND).strftime("%Y-%m-%d %H:%M:%S.%f").zfill(26)
    except OverflowError as error:
        raise OutOfRangeError(f"{micros} microseconds since 1970") from error


def string_literal_of(key: str) -> str:
    """A string by its bytes in hex. Bytes that a literal could not say in every mode of Spark's parser stay hex."""
    try:
        text = bytes.fromhex(key).decode("utf-8")
    except UnicodeDecodeError:
        return f"CAST(X'{key}' AS STRING)"
    plain = all(sign >= _FIRST_PRINTABLE and sign not in _ESCAPED for sign in text)
    # `${…}` is replaced in the text of a statement, wherever it appears.
    return f"'{text}'" if plain and "${" not in text else f"CAST(X'{key}' AS STRING)"
