"""Which reader takes a file, by its suffix, and whether it can hold a MERGE at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from merge_runner.lint.containers.budget import MOST_CODE
from merge_runner.lint.containers.contents import Container, Contents, EmbeddedStatement, UnreadMerge
from merge_runner.lint.containers.ipynb import NotebookCell, is_synapse_notebook, notebook_cells
from merge_runner.lint.containers.notebook import Cell, cells, is_notebook
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.containers.python_code import read_python
from merge_runner.lint.containers.scala_code import read_scala
from merge_runner.lint.containers.script import read_script
from merge_runner.lint.containers.unread_text import IN_CODE, merge_in_code, merge_in_sql
from merge_runner.merge.find import find_merge
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText

SUFFIXES = (".sql", ".py", ".scala", ".ipynb")
"""The files that a folder means."""

Render = Callable[[SourceText], RenderedText]
"""Gives the text of SQL as Spark gets it; raises ProblemsError."""

_WORD = re.compile("merge", re.IGNORECASE)
_MACRO = re.compile(r"\{%[-+]?\s*macro\b")
CODE = (".py", ".scala", ".ipynb")
_LANGUAGES = {"py": "python", "scala": "scala"}
_CONTAINERS: Mapping[str, Container] = {"python": "python", "scala": "scala"}
DATA = (".json", ".yml", ".yaml", ".toml")
_PROSE = frozenset({"md", "markdown", "html", "latex", "svg"})
"""Cells that are read by people alone."""

_TABLE = re.compile(
    r"(?:create|replace|alter)\s+(?:or\s+replace\s+)?(?:global\s+)?(?:temp(?:orary)?\s+|external\s+)?(?:table|view)\b",
    re.IGNORECASE,
)


def may_describe_tables(source: SourceText) -> bool:
    """Return whether a file can hold a CREATE or ALTER TABLE, or a view, by its words alone."""
    return _TABLE.search(source.text) is not None


def may_hold_merge(source: SourceText) -> bool:
    """Return whether a file can hold a MERGE, by its words alone; reading it takes a thousand times as long."""
    if source.path.lower().endswith(DATA):
        return is_synapse_notebook(source) or merge_in_code(source.text, is_data=True) is not None
    return (IN_CODE if source.path.lower().endswith((".py", ".scala")) else _WORD).search(source.text) is not None


def read_contents(source: SourceText, render: Render) -> Contents:
    """Return what a file holds; one of another suffix is SQL.

    Where nothing is read of a file that holds a MERGE, its first one is in `unread`. Raises ProblemsError as `render`
    does, and MergeSyntaxError for an .ipynb file that is no notebook.
    """
    suffix = source.path.rpartition(".")[2].lower()
    if suffix == "ipynb":
        return _cells_of(source)
    if source.path.lower().endswith(DATA):
        return _data(source)
    language = _LANGUAGES.get(suffix, "sql")
    container: Container | None = "notebook" if is_notebook(source) else _CONTAINERS.get(language)
    if container is not None and (contents := _too_long(container, [source])) is not None:
        return contents
    if container == "notebook":
        parts = _source_notebook(source, language, list(cells(source)))
    elif language == "sql":
        parts = [read_script(render(source), is_sql=suffix == "sql")]
        if not any(contents.unread or contents.merges for contents in parts):
            parts.append(_not_read(source))
    else:
        parts = [_code(language, [source])]
    return _join_contents(parts, (source,))


def _not_read(source: SourceText) -> Contents:
    """The first MERGE of a file in which none is a statement: of SQL, or in a language that lint does not know."""
    is_sql = source.path.lower().endswith(SUFFIXES)
    span = (merge_in_sql if is_sql else merge_in_code)(source.text)
    if span is None:
        return Contents()
    reason = f"lint reads code in {', '.join(CODE)} files"
    if is_sql and find_merge(source.text) is None:
        reason = "it is in a string"
    elif is_sql:
        in_macro = _MACRO.search(source.text, 0, span.start) is not None
        reason = "it is in a macro, linted where a model calls it" if in_macro else "Jinja renders the file without it"
    return Contents(unread=(UnreadMerge("sql", source.place(span.start, span.end), reason),))


def _too_long(container: Container, texts: Sequence[SourceText]) -> Contents | None:
    """The first MERGE in code that is too long to be read; None where it is not."""
    if sum(len(text.text) for text in texts) <= MOST_CODE:
        return None
    for text in texts:
        if (merge := _WORD.search(text.text)) is not None:
            why = f"lint does not follow this code: it has more than {MOST_CODE:,} characters"
            return Contents(unread=(UnreadMerge(container, text.place(*merge.span()), why),))
    return Contents()


def _cells_of(source: SourceText) -> Contents:
    notebook = list(notebook_cells(source))
    return _too_long("ipynb", [cell.text for cell in notebook]) or _notebook(notebook)


def _data(source: SourceText) -> Contents:
    """What a file of JSON or YAML holds: the cells of a Synapse notebook, else the first MERGE in a text of it."""
    if is_synapse_notebook(source):
        return _cells_of(source)
    span = merge_in_code(source.text, is_data=True)
    if span is None:
        return Contents()
    place = source.place(span.start, span.end)
    return Contents(unread=(UnreadMerge("sql", place, "lint reads no SQL in files of JSON, YAML and TOML"),))


def _source_notebook(source: SourceText, language: str, notebook: Iterable[Cell]) -> list[Contents]:
    parts = []
    code: dict[str, list[SourceText]] = {"python": [], "scala": []}
    for cell in notebook:
        if (cell.language or language) == "sql":
            parts.append(_sql(cell.text, "notebook"))
        elif cell.language in code:
            code[cell.language].append(cell.text)
        elif cell.language is not None:
            parts.append(_other_cell(cell.language, cell.text, "notebook"))
    foreign = tuple((name, text) for name, texts in code.items() for text in texts)
    if language in code:
        code[language].insert(0, source)  # cells after MAGIC are comments there
    return [*parts, *(_code(name, texts) for name, texts in code.items() if texts), Contents(code=foreign)]


def _notebook(notebook: Iterable[NotebookCell]) -> Contents:
    parts = []
    code: dict[str, list[SourceText]] = {"python": [], "scala": []}
    texts = []
    for cell in notebook:
        texts.append(cell.text)
        parts += [_sql(text, "ipynb") for text in cell.sql]
        if cell.language in code:
            code[cell.language].append(cell.text)
        elif not cell.sql:
            parts.append(_other_cell(cell.language, cell.text, "ipynb"))
    parts += [_code(language, sources) for language, sources in code.items() if sources]
    foreign = tuple(("scala", text) for text in code["scala"])  # the comments of Python are read in all cells
    return _join_contents([*parts, Contents(code=foreign)], tuple(texts))


def _other_cell(language: str, text: SourceText, container: Container) -> Contents:
    """The first MERGE of a cell that is in none of the languages which are read."""
    span = None if language in _PROSE else merge_in_code(text.text)
    if span is None:
        return Contents()
    reason = f"it is in {language}; lint reads cells of Spark SQL, Python and Scala"
    return Contents(unread=(UnreadMerge(container, text.place(span.start, span.end), reason),))


def _sql(text: SourceText, container: Container) -> Contents:
    rendered = placeholders_of(RenderedText.plain(text))
    return replace(read_script(rendered, container), sql=(rendered,))


def _code(language: str, sources: list[SourceText]) -> Contents:
    parts = [read_python(sources)] if language == "python" else [read_scala(source) for source in sources]
    statements = tuple(statement for contents in parts for statement in contents.statements)
    unread = tuple(merge for contents in parts for merge in contents.unread)
    return Contents(statements, unread, sql=tuple(statement.rendered for statement in statements))


def _join_contents(parts: Iterable[Contents], texts: tuple[SourceText, ...]) -> Contents:
    """What was read, in the order of its places."""
    parts = list(parts)
    statements = sorted((statement for contents in parts for statement in contents.statements), key=_statement_order)
    unread = sorted((merge for contents in parts for merge in contents.unread), key=_unread_order)
    sql = tuple(text for contents in parts for text in contents.sql)
    code = tuple(part for contents in parts for part in contents.code)
    return Contents(tuple(statements), tuple(unread), texts, sql, code)


def _statement_order(statement: EmbeddedStatement) -> tuple[int, int, int]:
    place = statement.rendered.place(0)
    return place.cell or 0, place.line, place.column


def _unread_order(unread: UnreadMerge) -> tuple[int, int, int]:
    return unread.place.cell or 0, unread.place.line, unread.place.column
