"""Failing rows of a data test: read from JSON texts, cut for display, and drawn as a small table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from merge_runner.columns import padded
from merge_runner.columns import width as width_of

MOST_SHOWN = 5
"""Rows of a failing test that are shown."""
LONGEST_VALUE = 1_000
"""Characters of a text that are kept of each value."""
WIDEST_CELL = 40
"""Characters of a value that the table shows."""

FailingRow = Mapping[str, Any]
"""The values of a row by column, as plain JSON values. The second column of one name is called `name (2)`."""

_GAP = " | "
_NARROWEST_TABLE = 40


def read_rows(texts: Iterable[str], first: Sequence[str] = ()) -> list[FailingRow]:
    """Return the rows whose JSON `texts` are, the columns named in `first` leftmost, in the order given there."""
    return [_ordered(json.loads(text, object_pairs_hook=_by_column, parse_float=_number), first) for text in texts]


def cut_rows(rows: Iterable[FailingRow], conceal: Callable[[str], str]) -> list[FailingRow]:
    """Return the rows without secrets, and with long texts cut. Secrets go first: half of one is still one."""
    return [{name: _cut_value(value, conceal) for name, value in row.items()} for row in rows]


def table_lines(rows: Sequence[FailingRow], width: int) -> Iterator[str]:
    """Yield the lines of the table, none wider than `width` characters (40 at least), as Markdown has it.

    Columns that do not fit are counted in a last line.
    """
    names = list(rows[0])
    columns = [[_clipped(name), *(_clipped(cell_text(row.get(name))) for row in rows)] for name in names]
    widths = [max(map(width_of, column)) for column in columns]
    fit = _how_many_fit(widths, max(width, _NARROWEST_TABLE))
    numeric = [all(_is_number(row.get(name)) for row in rows) for name in names]
    for at in range(len(rows) + 1):
        cells = (_aligned(columns[n][at], widths[n], right=numeric[n] and at > 0) for n in range(fit))
        yield f"| {_GAP.join(cells)} |"
        if at == 0:
            yield f"| {_GAP.join('-' * widths[n] for n in range(fit))} |"
    if fit < len(names):
        left_out = len(names) - fit
        yield f"… {left_out} more column{'' if left_out == 1 else 's'}"


def cell_text(value: Any) -> str:
    """Return a value as the table shows it: NULL plain, a text in quotes where its ends would not be seen."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        plain = value and value == value.strip() and value.isprintable() and value.upper() != "NULL"
        return value if plain else repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple, Mapping)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def named_columns(columns: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the columns that the texts of a test name, such as its expression."""
    words = {word.lower() for text in texts for word in re.findall(r"\w+", text)}
    return [column for column in columns if column.lower() in words]


def _aligned(text: str, columns: int, right: bool) -> str:
    return " " * (columns - width_of(text)) + text if right else padded(text, columns)


def _how_many_fit(widths: Sequence[int], width: int) -> int:
    """The number of leftmost columns that fit; one at least."""
    total, fit = len("| ") + len(" |") - len(_GAP), 0
    for column_width in widths:
        total += column_width + len(_GAP)
        if total > width and fit:
            break
        fit += 1
    return fit


def _ordered(row: dict[str, Any], first: Sequence[str]) -> FailingRow:
    names = {name.lower(): name for name in reversed(row)}
    leading = [names[name.lower()] for name in first if name.lower() in names]
    return {name: row[name] for name in dict.fromkeys((*leading, *row))}


def _by_column(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in pairs:
        number = 2
        unique_name = name
        while unique_name in row:
            unique_name, number = f"{name} ({number})", number + 1
        row[unique_name] = value
    return row


def _number(text: str) -> float | str:
    """The number that a JSON text is; a decimal of more digits than a float has stays a text."""
    number = float(text)
    return number if Decimal(repr(number)) == Decimal(text) else text


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _cut_value(value: Any, conceal: Callable[[str], str]) -> Any:
    value = _conceal(value, conceal)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST_VALUE else _clipped(text, LONGEST_VALUE)


def _conceal(value: Any, conceal: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return conceal(value)
    if isinstance(value, Mapping):
        return {conceal(name): _conceal(item, conceal) for name, item in value.items()}
    if isinstance(value, list):
        return [_conceal(item, conceal) for item in value]
    return value


def _clipped(text: str, longest: int = WIDEST_CELL) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
