"""Draws the merges of an invocation as a table of plain characters, as wide as the terminal, else 80 columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from merge_runner.cli.display.messages import styled, terminal_columns
from merge_runner.columns import padded, width, wrapped

_NARROW = 80
_WIDEST = 120
_NAME = 12
"""The fewest columns of a name next to its figures."""
_HEAD = ("merge", "seconds", "files scanned", "inserted", "updated", "deleted", "copied")
_GAP = "  "


def summary_lines(merges: Sequence[Mapping[str, Any]], hidden: int, hidden_hints: int) -> Iterator[str]:
    """The lines of the table: a header, a row for each merge, and its hints under it.

    `merges` are rows of run/results/merge_report.py as JSON values; `hidden` more are not shown, `hidden_hints` of
    them with a hint.
    """
    columns = _columns()
    cells = [_HEAD, *(_cells(merge) for merge in merges)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(_HEAD))]
    free = columns - sum(widths[1:]) - len(_GAP) * (len(_HEAD) - 1)
    below = free < min(_NAME, widths[0])  # a name has a line to itself, and its figures are below it
    widths[0] = 0 if below else max(len(_HEAD[0]), min(widths[0], free))
    yield styled(_line(("", *_HEAD[1:]) if below else _HEAD, widths), bold=True)
    for merge, row in zip(merges, cells[1:], strict=True):
        if below:
            yield _shorten(row[0], columns)
        yield _line(("" if below else _shorten(row[0], widths[0]), *row[1:]), widths)
        for hint in merge["hints"]:
            yield from _hint(hint, columns)
    if hidden:
        rest = f"{hidden} more that took less time"
        yield rest + (f", {hidden_hints} of them with a hint" if hidden_hints else "") + ": target/run_results.json"


def _cells(merge: Mapping[str, Any]) -> tuple[str, ...]:
    scanned, total = merge["files_scanned"], merge["files_total"]
    return (
        merge["name"],
        f"{merge['seconds']:.1f}",
        "-" if scanned is None or total is None else f"{_short(scanned)} of {_short(total)}",
        *(_short(merge[f"rows_{kind}"]) for kind in ("inserted", "updated", "deleted")),
        _copied(merge["rows_copied"], merge["copied_per_change"]),
    )


def _copied(copied: int | None, ratio: float | None) -> str:
    """Copied rows for each changed one, `7.2x`; `123k/0` where none was changed."""
    if not copied:
        return "-" if copied is None else "0"
    return f"{_short(copied)}/0" if ratio is None else f"{_short(ratio)}x"


def _short(number: float | None) -> str:
    """A number in at most six characters: `99,999`, `123k`, `12.3M`; a ratio below ten with one decimal."""
    if number is None:
        return "-"
    if isinstance(number, float) and number < 10:
        return f"{number:.1f}"
    if number < 100_000:
        return f"{number:,.0f}"
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}" if number / size < 999.5 else f"{number / size:,.0f}{unit}"
    raise AssertionError(number)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return _GAP.join((*([padded(cells[0], widths[0])] if widths[0] else []), *numbers))


def _shorten(name: str, columns: int) -> str:
    """Cut the middle out of a name that is too long: both ends distinguish it from others."""
    if width(name) <= columns:
        return name
    width_left = columns - 2
    while width(name[: (width_left + 1) // 2]) + width(name[len(name) - width_left // 2 :]) > columns - 2:
        width_left -= 1  # wide characters take two columns each
    return f"{name[: (width_left + 1) // 2]}..{name[len(name) - width_left // 2 :]}"


def _hint(text: str, columns: int) -> Iterator[str]:
    yield from wrapped(f"    {styled('hint', fg='yellow')}: {text}", columns, 6)


def _columns() -> int:
    return min(_WIDEST, terminal_columns(sys.stderr) or _NARROW)
