"""Which reader takes a file, by its suffix, and whether it can hold a MERGE at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from merge_runner.lint.containers.budget import MOST_CODE
from merge_runner.lint.containers.found import Container, Contents, FoundStatement, UnreadMerge
from merge_runner.lint.containers.ipynb import NotebookCell, notebook_cells
from merge_runner.lint.containers.notebook import Cell, cells, is_notebook
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.containers.python_code import read_python
from merge_runner.lint.containers.scala_code import read_scala
from merge_runner.lint.containers.script import read_script
from merge_runner.template.rendered import Rendered
from merge_runner.text import SourceText

SUFFIXES = (".sql", ".py", ".scala", ".ipynb")
"""The files that a folder means."""

Render = Callable[[SourceText], Rendered]
"""Gives the text of SQL as Spark gets it; raises ProblemsError."""

_WORD = re.compile("merge", re.IGNORECASE)
_IN_CODE = re.compile(
    r"merge[\s\"'+\\]+(?:[rfu]{1,2}[\"'])?\s*(?:with\s+schema|into)|when(?:not)?matched|mergeInto", re.IGNORECASE
)
_IN_STRING = re.compile(r"[\"']\s*(?P<merge>merge\s+into)\b", re.IGNORECASE)
CODE = (".py", ".scala", ".ipynb")

_TABLE = re.compile(
    r"(?:create|replace|alter)\s+(?:or\s+replace\s+)?(?:global\s+)?(?:temp(?:orary)?\s+|external\s+)?(?:table|view)\b",
    re.IGNORECASE,
)


def may_describe_tables(source: SourceText) -> bool:
    """Return whether a file can hold a CREATE or ALTER TABLE, or a view, by its words alone."""
    return _TABLE.search(source.text) is not None


def may_hold_merge(source: SourceText) -> bool:
    """Return whether a file can hold a MERGE, by its words alone; reading it takes a thousand times as long."""
    return (_IN_CODE if source.path.lower().endswith((".py", ".scala")) else _WORD).search(source.text) is not None


def read_contents(source: SourceText, render: Render) -> Contents:
    """Return what a file holds; one of another suffix is SQL.

    Raises ProblemsError as `render` does, and MergeSyntaxError for an .ipynb file that is no notebook.
    """
    if source.path.lower().endswith(".ipynb"):
        found = list(notebook_cells(source))
        return _too_long("ipynb", [cell.text for cell in found]) or _notebook(found)
    language = _LANGUAGES.get(source.path.rpartition(".")[2].lower(), "sql")
    container: Container | None = "notebook" if is_notebook(source) else _CONTAINERS.get(language)
    if container is not None and (contents := _too_long(container, [source])) is not None:
        return contents
    if container == "notebook":
        read = _databricks(source, language, list(cells(source)))
    elif language == "sql":
        read = [read_script(render(source))]
        if not source.path.lower().endswith(SUFFIXES) and read[0] == Contents():
            read.append(_in_other_code(source))
    else:
        read = [_code(language, [source])]
    return _joined(read, (source,))


def _in_other_code(source: SourceText) -> Contents:
    """The first MERGE in a string of a file that is named, and whose language lint does not know: Java, R, a shell."""
    found = _IN_STRING.search(source.text)
    if found is None:
        return Contents()
    reason = f"lint reads code in {', '.join(CODE)} files"
    return Contents(unread=(UnreadMerge("sql", source.place(*found.span("merge")), reason),))


_LANGUAGES = {"py": "python", "scala": "scala"}
_CONTAINERS: Mapping[str, Container] = {"python": "python", "scala": "scala"}


def _too_long(container: Container, texts: Sequence[SourceText]) -> Contents | None:
    """The first MERGE in code that is too long to be read; None where it is not."""
    if sum(len(text.text) for text in texts) <= MOST_CODE:
        return None
    for text in texts:
        if (merge := _WORD.search(text.text)) is not None:
            why = f"lint does not follow this code: it has more than {MOST_CODE:,} characters"
            return Contents(unread=(UnreadMerge(container, text.place(*merge.span()), why),))
    return Contents()


def _databricks(source: SourceText, language: str, found: Iterable[Cell]) -> list[Contents]:
    read = []
    code: dict[str, list[SourceText]] = {"python": [], "scala": []}
    for cell in found:
        if (cell.language or language) == "sql":
            read.append(_sql(cell.text, "notebook"))
        elif cell.language in code:
            code[cell.language].append(cell.text)
    foreign = tuple((each, text) for each, texts in code.items() if each != language for text in texts)
    if language in code:
        code[language] = [source]  # cells in other languages are comments there
    return [*read, *(_code(each, texts) for each, texts in code.items() if texts), Contents(code=foreign)]


def _notebook(found: Iterable[NotebookCell]) -> Contents:
    read = []
    code: dict[str, list[SourceText]] = {"python": [], "scala": []}
    texts = []
    for cell in found:
        texts.append(cell.text)
        read += [_sql(text, "ipynb") for text in cell.sql]
        if cell.language in code:
            code[cell.language].append(cell.text)
    read += [_code(language, sources) for language, sources in code.items() if sources]
    foreign = tuple(("scala", text) for text in code["scala"])  # the comments of Python are read in all cells
    return _joined([*read, Contents(code=foreign)], tuple(texts))


def _sql(text: SourceText, container: Container) -> Contents:
    rendered = placeholders_of(Rendered.plain(text))
    return replace(read_script(rendered, container), sql=(rendered,))


def _code(language: str, sources: list[SourceText]) -> Contents:
    read = [read_python(sources)] if language == "python" else [read_scala(source) for source in sources]
    statements = tuple(statement for contents in read for statement in contents.statements)
    unread = tuple(each for contents in read for each in contents.unread)
    return Contents(statements, unread, sql=tuple(statement.rendered for statement in statements))


def _joined(read: Iterable[Contents], texts: tuple[SourceText, ...]) -> Contents:
    """What was read, in the order of its places."""
    read = list(read)
    statements = sorted((each for contents in read for each in contents.statements), key=_statement_order)
    unread = sorted((each for contents in read for each in contents.unread), key=_unread_order)
    sql = tuple(text for contents in read for text in contents.sql)
    code = tuple(each for contents in read for each in contents.code)
    return Contents(tuple(statements), tuple(unread), texts, sql, code)


def _statement_order(statement: FoundStatement) -> tuple[int, int, int]:
    place = statement.rendered.place(0)
    return place.cell or 0, place.line, place.column


def _unread_order(unread: UnreadMerge) -> tuple[int, int, int]:
    return unread.place.cell or 0, unread.place.line, unread.place.column
