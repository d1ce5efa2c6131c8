"""Pieces of Markdown pages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

_WIDTH = 120
"""Characters of a line of prose: differences of pages can be read then."""


def page(title: str, *parts: str) -> str:
    """Return a generated page: the title, and the parts that are not empty."""
    return "\n\n".join((f"# {title}", *(_wrapped(part.strip("\n")) for part in parts if part))) + "\n"


def _wrapped(part: str) -> str:
    """Return a part with its paragraphs wrapped where a line is too long; tables, lists and code stay as they are."""
    if "```" in part:
        return part
    paragraphs = part.split("\n\n")
    for at, text in enumerate(paragraphs):
        if text[:1] not in "|#-1" and any(len(line) > _WIDTH for line in text.splitlines()):
            whole = re.sub(r"`[^`]*`", lambda found: found[0].replace(" ", "\0"), " ".join(text.split()))
            lines = textwrap.wrap(whole, _WIDTH, break_long_words=False, break_on_hyphens=False)
            paragraphs[at] = "\n".join(lines).replace("\0", " ")
    return "\n\n".join(paragraphs)


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
