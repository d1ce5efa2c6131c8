"""Pieces of Markdown pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

COMMAND = "python -m merge_runner.reference"


def page(title: str, *parts: str) -> str:
    """Return a generated page: a note, the title, and the parts that are not empty."""
    note = f"<!-- Generated from the code by `{COMMAND}`; do not edit. -->"
    return "\n\n".join((note, f"# {title}", *(part.strip("\n") for part in parts if part))) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; each cell becomes one line."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(cell(text) for text in row)} |" for row in rows]
    return "\n".join(lines)


def cell(text: str) -> str:
    """Return a text as one line that ends no cell of a table."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def code(text: str) -> str:
    """Return a text as inline code, also where it contains backticks."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def fenced(language: str, text: str) -> str:
    """Return a code block."""
    return f"```{language}\n{text.rstrip()}\n```"


def anchor(heading: str) -> str:
    """Return the anchor that GitHub and MkDocs give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
