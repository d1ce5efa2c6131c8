r"""MkDocs: adds the generated pages, and in code of a table, where GitHub needs `\|` for a pipe, removes the backslash.

Python-Markdown would print it.
"""

from __future__ import annotations

import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tools.docgen.pages import pages

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Return the files of the documentation with those that are made from the code."""
    for path, text in pages().items():
        files.append(File.generated(config, path.removeprefix("docs/"), content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return the page with plain pipes in the code of its tables."""
    lines = (
        _CODE.sub(lambda code: code[0].replace(r"\|", "|"), line) if line.startswith("|") else line
        for line in markdown.split("\n")
    )
    return "\n".join(lines)
