"""Tables of Markdown, in which no text is read as Markdown or HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from merge_runner.columns import cut, one_line

WIDEST = 500
"""Columns that code in a line, and a line of a block, take at most."""


def cell(text: Any) -> str:
    """Return a text as one line of Markdown that shows it as it is."""
    line = html.escape(" ".join(str(text).split()), quote=False)
    return re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", line)


def code(text: Any) -> str:
    """Return a text as code inside of a line: not even a mention, a reference or an address is read in it.

    In a table use `cell`: there a `|` would end it.
    """
    line = cut(one_line(str(text)), WIDEST, "…") or " "
    mark = "`" * (_longest_run(line) + 1)
    blank = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{mark}{blank}{line}{blank}{mark}"


def block(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as a block of text, in which nothing is read as anything else."""
    shown = [cut(line, WIDEST, "…") for line in lines]
    mark = "`" * max([3, *(_longest_run(line) + 1 for line in shown)])
    yield from (f"{mark}text", *shown, mark)


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], numbers: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield the lines of a table; `numbers` are the columns that are aligned to the right."""
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('--:' if number in numbers else '---' for number in range(len(heads)))} |"
    yield from (f"| {' | '.join(cell(value) for value in row)} |" for row in rows)
