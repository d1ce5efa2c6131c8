r"""MkDocs: in code of a table, GitHub needs `\|` for a pipe, and Python-Markdown prints the backslash: remove it."""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return the page with plain pipes in the code of its tables."""
    lines = (
        _CODE.sub(lambda code: code[0].replace(r"\|", "|"), line) if line.startswith("|") else line
        for line in markdown.split("\n")
    )
    return "\n".join(lines)
