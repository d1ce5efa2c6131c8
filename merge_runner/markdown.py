"""Tables of Markdown, in which no text is read as Markdown or HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any


def cell(text: Any) -> str:
    """Return a text as one line of Markdown that shows it as it is."""
    line = html.escape(" ".join(str(text).split()), quote=False)
    return re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", line)


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], numbers: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield the lines of a table; `numbers` are the columns that are aligned to the right."""
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('--:' if number in numbers else '---' for number in range(len(heads)))} |"
    yield from (f"| {' | '.join(cell(value) for value in row)} |" for row in rows)
