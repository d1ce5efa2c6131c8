"""Python values as Spark SQL: the filters `literal` and `identifier`.

Escapes follow the SQL reference of Spark ("Literals", "Identifiers") with spark.sql.parser.escapedStringLiterals off,
its default, and hold with spark.sql.variable.substitute on, its default.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# What the ANSI mode of Spark reserves ("ANSI Compliance" of its SQL reference), and `interval`, which begins a literal.
_RESERVED_WORDS = """
    all and anti any as authorization both case cast check collate column constraint create cross
    current_date current_time current_timestamp current_user distinct else end escape except exists
    false fetch filter for foreign from full grant group having in inner intersect interval into is join
    lateral leading left like minus natural not null offset on only or order outer overlaps primary
    references right select semi session_user some table then time to trailing true union unique unknown
    user using values when where with within
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())
_MAX_DIGITS = 38  # DecimalType.MAX_PRECISION
_ESCAPED = re.compile(r"[\\'\x00-\x1f\x7f]|\$(?=\{)")


def literal(value: Any) -> str:
    """`value` as a Spark SQL literal that reads as the very value.

    str, bool, int, None and date as one expects; float as DOUBLE (`1.5D`), Decimal as DECIMAL (`1.50BD`), datetime as
    TIMESTAMP (without an offset it is in the session's time zone); a list or tuple as `(a, b)` for IN. Raises
    ValueError for what has no literal: NaN, infinity, more than 38 digits, an empty or nested list, any other type.
    The message never holds the value.
    """
    if isinstance(value, (list, tuple)):
        if not value:
            raise ValueError("an empty list has no SQL literal, since IN () is no SQL; test for it with {% if %}")
        return f"({', '.join(_scalar(item) for item in value)})"
    return _scalar(value)


def identifier(name: Any) -> str:
    """A name in backquotes: a str is one part, dots and all; a list or tuple is a dotted name.

    Raises ValueError for an empty name, one with `${` (Spark would substitute a variable there), or another type.
    """
    if isinstance(name, (list, tuple)):
        return ".".join(_part(part) for part in name or [""])
    return _part(name)


def column_name(name: Any) -> str:
    """A column's name as people write it: in backquotes only where it is no plain name, or SQL reserves it.

    Raises ValueError as `identifier` does.
    """
    text = identifier(name)
    return name if isinstance(name, str) and _PLAIN.match(name) and name.lower() not in _RESERVED else text


def _scalar(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + _ESCAPED.sub(_escape, value) + "'"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, Decimal)):
        return _number(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP'{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE'{value.isoformat()}'"
    raise ValueError(f"a value of type {type(value).__name__} has no SQL literal here")


def _number(value: int | float | Decimal) -> str:
    if not math.isfinite(value):
        raise ValueError("NaN and infinity have no SQL literal; write double('NaN') or double('Infinity') in the SQL")
    if isinstance(value, int):
        text = str(int(value)) if -(10**_MAX_DIGITS) < value < 10**_MAX_DIGITS else ""
    elif isinstance(value, float):
        text = f"{value!r}D"
    else:
        text = f"{value:f}"
        # A leading zero counts as no digit: 0.001 is a DECIMAL(3, 3).
        text = f"{text}BD" if len(text.lstrip("-0.").replace(".", "")) <= _MAX_DIGITS else ""
        if text and len(text.partition(".")[2]) - len("BD") > _MAX_DIGITS:
            text = ""
    if not text:
        raise ValueError(f"a number of more than {_MAX_DIGITS} digits has no SQL literal")
    # After a minus, the bare text of a negative number would begin a comment.
    return f"({text})" if text.startswith("-") else text


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    # Substitution of ${…} runs over the text before it is parsed and knows no escape, so the $ itself must go.
    return "\\" + char if char in "\\'" else f"\\u{ord(char):04x}"


def _part(part: Any) -> str:
    if not isinstance(part, str) or not part:
        raise ValueError("an identifier is a text that is not empty, or a list of such")
    if "${" in part:
        raise ValueError("an identifier with ${ would be changed by Spark's variable substitution")
    return "`" + part.replace("`", "``") + "`"
