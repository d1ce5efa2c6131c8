"""Where the one query of a text is: without blanks around it and without closing semicolons."""

from __future__ import annotations

from merge_runner.merge.find import find_merge, find_statement
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.lexer import lex
from merge_runner.text import Span

MERGE_FOUND = "expected a query, found a MERGE"
MERGE_HINT = (
    "a model that holds a MERGE is materialized as merge: write {{ config(materialized='merge') }} in its file, "
    "or remove the other `materialized` from its config, its YAML or its folder in pyproject.toml"
)


STATEMENT_HINT = (
    "a model is one MERGE or one query: write `merge into {{ this }} …` to add to a table or to change it, "
    "or the SELECT alone; other statements go into pre_hook and post_hook"
)


_QUERIES = frozenset({"SELECT", "VALUES"})
"""How queries begin that are nothing else; WITH and FROM may begin an INSERT, too."""
_READING = _QUERIES | {"SHOW", "DESCRIBE", "DESC"}


def is_query(text: str) -> bool:
    """Return whether a statement of Spark is known to be a query, by the word that it begins with."""
    return _first_key(text) in _QUERIES


def only_reads(text: str) -> bool:
    """Return whether a statement of Spark is known to change nothing: a query, SHOW or DESCRIBE."""
    return _first_key(text) in _READING


def _first_key(text: str) -> str:
    """Return the first keyword of a statement; empty where it begins with none, or cannot be cut into tokens."""
    try:
        tokens = lex(text)
    except MergeSyntaxError:
        return ""
    return tokens[0].key if tokens else ""


def no_query(text: str) -> MergeSyntaxError | None:
    """Return the error about a text that is to be a query and is a MERGE or another statement that writes.

    The text may hold Jinja. None where neither is found: it may still be no query.
    """
    if (merge := find_merge(text)) is not None:
        return MergeSyntaxError(MERGE_FOUND, merge, MERGE_HINT)
    if (statement := find_statement(text)) is not None:
        return MergeSyntaxError(f"expected a query, found {statement.of(text).upper()}", statement, STATEMENT_HINT)
    return None


def query_span(text: str) -> Span:
    """The span of the query in `text`; it begins with the comments before it.

    Comments after a closing semicolon are left out, those after a query without one are kept. A text that cannot be
    cut into tokens is taken as one query: Spark reports what is wrong with it. Raises MergeSyntaxError for a text that
    holds no statement, several, a MERGE, or another statement that writes.
    """
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    try:
        tokens = lex(text)
    except MergeSyntaxError:
        return Span(start, max(start, end))
    stop = len(tokens)
    while stop and tokens[stop - 1].key == ";":
        stop -= 1
    if stop == 0:
        raise MergeSyntaxError("the text holds no statement", Span(0, 0), "write a SELECT, or remove the file")
    several = next((i for i in range(stop) if tokens[i].key == ";"), None)
    if several is not None:
        hint = "one query per file; other statements go into pre_hook and post_hook"
        raise MergeSyntaxError("the text holds several statements", tokens[several + 1].span, hint)
    if (error := no_query(text)) is not None:
        raise error
    return Span(start, end if stop == len(tokens) else tokens[stop - 1].end)


def selects_all(text: str) -> bool:
    """Return whether a query may give all columns of what it reads: its outermost SELECT has a star, or there is none.

    A star inside parentheses does not count.
    """
    try:
        tokens = lex(text)
    except MergeSyntaxError:
        return True
    depth, selects = 0, False
    for at, token in enumerate(tokens):
        depth += (token.key == "(") - (token.key == ")")
        if depth == 0 and token.key == "SELECT":
            selects = True
        elif depth == 0 and token.key == "*" and tokens[at - 1].key in ("SELECT", "ALL", "DISTINCT", ",", "."):
            return True
    return not selects
