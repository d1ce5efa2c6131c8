"""Notebooks of Databricks and Fabric as source: cells between comments, those in another language after `MAGIC`.

The formats: docs.databricks.com, "Import code from source files", and "Databricks notebook formats";
learn.microsoft.com, "Notebook source control and deployment" (`notebook-content.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from merge_runner.lint.containers.cut_text import CutText
from merge_runner.text import SourceText, Span

_MARKS = {"sql": "--", "py": "#", "scala": "//"}
"""How a comment begins, by the suffix of the file."""
_OWN = {"sql": "sql", "py": "python", "scala": "scala"}
"""The language of a file, by its suffix."""
_HEAD = " Databricks notebook source"
_FABRIC_HEAD = " Fabric notebook source"
_LANGUAGE = re.compile(r"\s*%(?P<cell>%?)(?P<word>\w+)[^\S\n]*")
_LANGUAGES = {"pyspark": "python", "sparksql": "sql", "spark": "scala", "sparkr": "r", "tsql": "T-SQL"}
"""What magics and metadata call a language that has another name, too."""
_META_LANGUAGE = re.compile(r'"language"\s*:\s*"(\w+)"')
_WAREHOUSE = re.compile(r'"language_group"\s*:\s*"sqldatawarehouse"')


@dataclass(frozen=True)
class Cell:
    """A cell in SQL or another language; `language` None: that of the file."""

    language: str | None
    text: SourceText


def is_notebook(source: SourceText) -> bool:
    """Return whether a .sql, .py or .scala file is a notebook as source."""
    mark = _MARKS.get(_suffix(source))
    if mark is None:
        return False
    return source.text.startswith(mark + _HEAD) or f"\n{mark} MAGIC %" in source.text or _is_of_fabric(source, mark)


def cells(source: SourceText) -> Iterator[Cell]:
    """Give the cells of a notebook, in their order: their texts without the marks of MAGIC."""
    mark = _MARKS[_suffix(source)]
    magic = re.compile(rf"^{re.escape(mark)} MAGIC(?:[ ]|(?=\n)|\Z)", re.MULTILINE)
    sections = _fabric_cells if _is_of_fabric(source, mark) else _databricks_cells
    for span, language in sections(source.text, re.escape(mark)):
        lines = [magic_mark.end() for magic_mark in magic.finditer(source.text, span.start, span.end)]
        if lines:
            yield _magic(source, lines, language)
        else:
            yield Cell(None if language == _OWN[_suffix(source)] else language, CutText.of(source, [span]))


def _is_of_fabric(source: SourceText, mark: str) -> bool:
    return source.text.startswith(mark + _FABRIC_HEAD)


def _databricks_cells(text: str, mark: str) -> Iterator[tuple[Span, None]]:
    command = re.compile(rf"^{mark} COMMAND -+[^\S\n]*$", re.MULTILINE)
    at = 0
    for end, after in [*(separator.span() for separator in command.finditer(text)), (len(text),) * 2]:
        yield Span(at, end), None
        at = after


def _fabric_cells(text: str, mark: str) -> Iterator[tuple[Span, str | None]]:
    """The cells of code, each with the language that the metadata after it names."""
    section = re.compile(rf"^{mark} ([A-Z ]+) \*{{8,}}[^\S\n]*$", re.MULTILINE)
    marks = list(section.finditer(text))
    ends = [match.start() for match in marks[1:]] + [len(text)]
    kinds = [(match[1], Span(match.end(), end)) for match, end in zip(marks, ends, strict=True)]
    for number, (kind, span) in enumerate(kinds):
        if kind not in ("CELL", "PARAMETERS CELL"):
            continue
        after, metadata = kinds[number + 1] if number + 1 < len(kinds) else ("", span)
        yield span, _meta_language(metadata.of(text)) if after == "METADATA" else None


def _meta_language(metadata: str) -> str | None:
    language = _META_LANGUAGE.search(metadata)
    if language is None:
        return None
    if _WAREHOUSE.search(metadata) is not None:
        return "T-SQL"
    return _LANGUAGES.get(language[1], language[1])


def _magic(source: SourceText, starts: list[int], language: str | None) -> Cell:
    """The cell of the lines whose text begins at `starts`; `language` is the one that it is in without a magic."""
    spans = []
    for start in starts:
        newline = source.text.find("\n", start)
        spans.append(Span(start, newline + 1 if newline >= 0 else len(source.text)))
    first = next((number for number, span in enumerate(spans) if span.of(source.text).strip()), 0)
    magic = _LANGUAGE.match(source.text, spans[first].start, spans[first].end)
    if magic is None:
        return Cell(language, CutText.of(source, spans))
    # `%%sql -o name` has options on its line, `%sql select 1` of Databricks the statement.
    spans[first] = Span(spans[first].end if magic["cell"] else magic.end(), spans[first].end)
    word = magic["word"].lower()
    return Cell(_LANGUAGES.get(word, word), CutText.of(source, spans[first:]))


def _suffix(source: SourceText) -> str:
    return source.path.rpartition(".")[2].lower()
