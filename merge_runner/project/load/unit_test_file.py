"""The text of a property file with one unit test, to be edited by its reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import yaml

_HEADING = """\
# A first unit test of {model}, from rows as they were when it was written.
# Keep the rows that a case needs, change what makes the case, and say in its name what is to hold.
version: 2

unit_tests:
  - name: {name}
    model: {model}
    given:
"""


def unit_test_file(
    model: str, name: str, inputs: Mapping[str, Sequence[Mapping[str, Any]]], expected: Sequence[Mapping[str, Any]]
) -> str:
    """The file: `inputs` are rows by input, `expected` those of the final target, with values as Spark gives them."""
    lines = [_HEADING.format(model=_scalar(model), name=_scalar(name))]
    for input_name, rows in inputs.items():
        lines.append(f"      - input: {_scalar(input_name)}\n" + _rows(rows, 8))
    return "".join((*lines, "    expect:\n", _rows(expected, 6)))


def as_written(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the values that a test will read from the file: without NULLs, and with the types that YAML has."""
    return {name: _plain(value) for name, value in row.items() if value is not None}


def _rows(rows: Sequence[Mapping[str, Any]], indent: int) -> str:
    blank = " " * indent
    if not rows:
        return f"{blank}rows: []\n"
    return f"{blank}rows:\n" + "".join(f"{blank}  - {_flow(row)}\n" for row in rows)


def _flow(row: Mapping[str, Any]) -> str:
    return yaml.safe_dump(
        as_written(row), default_flow_style=True, sort_keys=False, allow_unicode=True, width=1 << 20
    ).strip()


def _scalar(text: str) -> str:
    return yaml.safe_dump(text, allow_unicode=True, width=1 << 20).removesuffix("\n").removesuffix("\n...")


def _plain(value: Any) -> Any:
    """A value that YAML has, and that a test reads as the same: decimals are texts where a float would not do."""
    if value is None or isinstance(value, (bool, int, float, str, datetime, date)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode(errors="replace")
    return float(value) if isinstance(value, Decimal) and Decimal(repr(float(value))) == value else str(value)
