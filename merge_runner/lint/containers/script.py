"""SQL: a file of one statement, a script of many, a cell of a notebook."""

from __future__ import annotations

from merge_runner.lint.containers.contents import Container, Contents, EmbeddedStatement, UnreadMerge
from merge_runner.merge.find import find_merge
from merge_runner.merge.script import ScriptStatement, statements
from merge_runner.template.rendered_text import RenderedText

_OF_USE = frozenset({"CREATE", "REPLACE", "ALTER", "USE", "DECLARE", "SET", "DROP"})
"""The first words of statements that describe tables, resolve names or set variables."""


def read_script(rendered: RenderedText, container: Container | None = None, *, is_sql: bool = True) -> Contents:
    """Return the MERGEs of a SQL text, and the statements that describe tables, resolve names or set variables.

    `container` None: `sql` where there is one statement, else `script`. A string or comment without an end that takes
    a MERGE in is a statement, which Spark refuses; where it is not sure that the text `is_sql`, it says nothing.
    """
    text = rendered.text
    all_statements = list(statements(text))
    kind: Container = container or ("script" if len(all_statements) > 1 else "sql")
    relevant = []
    unread = []
    for statement in all_statements:
        span = statement.span
        if (reason := _unread(statement, text)) is not None:
            unread.append(UnreadMerge(kind, rendered.place(span.start, span.end), reason))
        elif statement.kind == "hidden":
            relevant += [EmbeddedStatement(kind, rendered.part(span.start, span.end))] if is_sql else []
        elif statement.kind == "merge" or statement.words[0] in _OF_USE:
            part = rendered.part(span.start, span.end)
            relevant.append(EmbeddedStatement(kind, part, statement.in_block, statement.rows))
    return Contents(tuple(relevant), tuple(unread))


def unread_in(text: str) -> str | None:
    """Return why a MERGE in a text that code makes is not read; None where each is a statement."""
    return next((reason for statement in statements(text) if (reason := _unread(statement, text)) is not None), None)


def _unread(statement: ScriptStatement, text: str) -> str | None:
    """Why a MERGE in another statement is not read; None where there is none."""
    inside = statement.span.of(text)
    if statement.kind == "hidden":
        return None
    is_known = statement.words[0] != ""  # a placeholder has no word
    if is_known and (statement.kind == "merge" or statement.words[0] in _OF_USE):
        return None
    if statement.words[:2] == ("EXECUTE", "IMMEDIATE"):
        words = inside.upper()
        if "MERGE" in words and "INTO" in words:
            return "EXECUTE IMMEDIATE computes its statement when it runs"
    elif find_merge(inside) is not None:
        if not is_known:
            return "what precedes it is known only at run time"
        return f"it is part of another statement, {' '.join(statement.words[:2])}".rstrip()
    return None
