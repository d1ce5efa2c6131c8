"""Notebooks of Jupyter, Databricks, Fabric and Synapse: JSON whose cells are in Python or, by a magic, in SQL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from merge_runner.lint.containers.cut_text import CutText
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.text import SourceText, Span, as_source

_MAGIC = re.compile(r"\s*(%%?)(\w+)([^\n]*)(?:\n|\Z)")
_SQL = frozenset({"sql", "sparksql", "spark_sql"})
_LANGUAGES = {"pyspark": "python", "python3": "python", "py": "python", "ipython": "python", "ipython3": "python"}
_DEFAULT = frozenset({"spark", "time", "timeit", "capture", "configure", "memit"})
"""Magics after which a cell is in the language of the notebook."""
_LINE_SQL = re.compile(r"^[^\S\n]*%(?:sql|sparksql)[^\S\n]+(?=\S)", re.MULTILINE)
_NO_NOTEBOOK = "export it as .ipynb again"


@dataclass(frozen=True)
class NotebookCell:
    """A cell of code: its `language`, its whole `text`, and the ranges of SQL in it."""

    language: str
    text: SourceText
    sql: tuple[SourceText, ...] = ()


def is_synapse_notebook(source: SourceText) -> bool:
    """Return whether a .json file is a notebook as Synapse keeps it: `{"name": …, "properties": {"cells": […]}}`."""
    may_be = all(f'"{key}"' in source.text for key in ("properties", "cells"))
    if not may_be or not source.path.lower().endswith(".json"):
        return False
    try:
        data = json.loads(source.text)
    except (ValueError, RecursionError):
        return False
    properties = data.get("properties") if isinstance(data, dict) else None
    return isinstance(properties, dict) and isinstance(properties.get("cells"), list)


def notebook_cells(source: SourceText) -> Iterator[NotebookCell]:
    """Give the cells of code of an .ipynb notebook, or one of Synapse, numbered as all its cells are.

    Raises MergeSyntaxError for a file that is no notebook.
    """
    try:
        data = json.loads(source.text)
    except json.JSONDecodeError as error:
        at = Span(min(error.pos, len(source.text)), min(error.pos + 1, len(source.text)))
        raise MergeSyntaxError(f"the notebook is not JSON: {error.msg}", at, _NO_NOTEBOOK) from None
    except (ValueError, RecursionError):
        raise MergeSyntaxError("the notebook is not JSON", Span(0, 0), _NO_NOTEBOOK) from None
    if isinstance(data, dict) and isinstance(inner := data.get("properties"), dict) and "cells" in inner:
        data = inner  # Synapse
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        old = isinstance(data, dict) and "worksheets" in data
        hint = "`jupyter nbconvert --to notebook --nbformat 4` converts it" if old else _NO_NOTEBOOK
        raise MergeSyntaxError("the notebook has no list of cells", Span(0, 0), hint)
    language = _language(data)
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code" and (text := _text(cell)) is not None:
            yield notebook_cell(SourceText(source.path, text, cell=number), _language(cell) or language or "python")


def _text(cell: Mapping[str, Any]) -> str | None:
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return as_source(source) if isinstance(source, str) else None


def _language(of: Mapping[str, Any]) -> str | None:
    """The language that the metadata of a notebook or cell declares; None where they declare none."""
    metadata = of.get("metadata")
    if not isinstance(metadata, dict):
        return None
    databricks = metadata.get("application/vnd.databricks.v1+notebook")
    microsoft = metadata.get("microsoft")
    names = (
        databricks.get("language") if isinstance(databricks, dict) else None,
        microsoft.get("language") if isinstance(microsoft, dict) else None,
        *(item.get(key) for key, item in _language_entries(metadata) if isinstance(item, dict)),
    )
    language = next((name.lower() for name in names if isinstance(name, str) and name), None)
    return None if language is None else "sql" if language in _SQL else _LANGUAGES.get(language, language)


def _language_entries(metadata: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return ("name", metadata.get("language_info")), ("language", metadata.get("kernelspec"))


def notebook_cell(text: SourceText, language: str) -> NotebookCell:
    """Return a cell of code; `language` is the one that it is in without a magic."""
    magic = _MAGIC.match(text.text)
    if magic is not None:
        mark, word, more = magic[1], magic[2].lower(), magic[3]
        whole = mark == "%%" or word in (*_SQL, *_LANGUAGES, "python", "scala", "r", "md", "sh")
        if whole and word not in _DEFAULT:
            language = "sql" if word in _SQL else _LANGUAGES.get(word, word)
            # `%%sql -o name` has options on its line, `%sql select 1` of Databricks the statement.
            inline = mark == "%" and more.strip() != ""
            if language == "sql":
                start = magic.start(3) if inline else magic.end()
                return NotebookCell(language, text, (CutText.of(text, [Span(start, len(text.text))]),))
    if language == "sql":
        return NotebookCell(language, text, (text,))
    return NotebookCell(language, text, tuple(_line_magics(text)))


def _line_magics(text: SourceText) -> Iterator[SourceText]:
    """The statements of `%sql …` among lines of Python."""
    for magic in _LINE_SQL.finditer(text.text):
        newline = text.text.find("\n", magic.end())
        yield CutText.of(text, [Span(magic.end(), newline if newline >= 0 else len(text.text))])
