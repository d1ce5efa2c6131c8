"""Databricks notebooks as source: cells with `COMMAND ----------` between, those in another language after `MAGIC`.

The format: docs.databricks.com, "Import code from source files", and "Databricks notebook formats".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from merge_runner.lazy_dataclass import dataclass
from merge_runner.lazy_pattern import pattern
from merge_runner.lint.containers.cut_text import CutText
from merge_runner.text import SourceText, Span

_MARKS = {"sql": "--", "py": "#", "scala": "//"}
"""How a comment begins, by the suffix of the file."""
_HEAD = " Databricks notebook source"
_LANGUAGE = pattern(r"\s*%(\w+)[^\S\n]*")


@dataclass(frozen=True)
class Cell:
    """A cell in SQL or another language; `language` None: that of the file."""

    language: str | None
    text: SourceText


def is_notebook(source: SourceText) -> bool:
    """Return whether a .sql, .py or .scala file is a Databricks notebook."""
    mark = _MARKS.get(_suffix(source))
    return mark is not None and (source.text.startswith(mark + _HEAD) or f"\n{mark} MAGIC %" in source.text)


def cells(source: SourceText) -> Iterator[Cell]:
    """Give the cells of a notebook, in their order: their texts without the marks of MAGIC."""
    mark = re.escape(_MARKS[_suffix(source)])
    command = re.compile(rf"^{mark} COMMAND -+[^\S\n]*$", re.MULTILINE)
    magic = re.compile(rf"^{mark} MAGIC(?:[ ]|(?=\n)|\Z)", re.MULTILINE)
    at = 0
    for end, after in [*(found.span() for found in command.finditer(source.text)), (len(source.text),) * 2]:
        lines = [found.end() for found in magic.finditer(source.text, at, end)]
        if lines:
            yield _magic(source, lines)
        else:
            yield Cell(None, CutText.of(source, [Span(at, end)]))
        at = after


def _magic(source: SourceText, starts: list[int]) -> Cell:
    """The cell of the lines whose text begins at `starts`."""
    spans = []
    for start in starts:
        newline = source.text.find("\n", start)
        spans.append(Span(start, newline + 1 if newline >= 0 else len(source.text)))
    first = next((number for number, span in enumerate(spans) if span.of(source.text).strip()), 0)
    language = _LANGUAGE.match(source.text, spans[first].start, spans[first].end)
    if language is None:
        return Cell(None, CutText.of(source, spans))
    spans[first] = Span(language.end(), spans[first].end)
    return Cell(language[1].lower(), CutText.of(source, spans[first:]))


def _suffix(source: SourceText) -> str:
    return source.path.rpartition(".")[2].lower()
