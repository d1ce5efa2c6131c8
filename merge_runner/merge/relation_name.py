"""Reads the name of a table or column, and the alias after a table."""

from __future__ import annotations

from typing import NamedTuple

from merge_runner.merge.expression import literal, name_parts, unquote
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.forms import changes_end
from merge_runner.merge.syntax.keywords import NO_ALIAS
from merge_runner.merge.syntax.sql import Sql


class Name(NamedTuple):
    """A dotted name that ends in front of token `stop`.

    `parts` are unquoted, and empty when an IDENTIFIER(…) is known at run time only; `computed` are the tokens inside
    the parentheses then.
    """

    parts: tuple[str, ...]
    stop: int
    computed: tuple[int, int] | None = None

    @property
    def dotted(self) -> str:
        """The parts with dots between."""
        return ".".join(self.parts)


def read_name(sql: Sql, start: int, subject: str = "the name") -> Name:
    """The name at token `start`: words, backquoted names and IDENTIFIER('…'), with dots between.

    Raises MergeSyntaxError when there is none; `subject` says in the message whose name it is.
    """
    parts: list[str] = []
    i = start
    is_known = True
    computed: tuple[int, int] | None = None
    while True:
        if sql.kind(i) not in ("word", "name"):
            raise _no_name(sql, i, subject)
        if sql.word(i).upper() == "IDENTIFIER" and sql.key(i + 1) == "(":
            close = sql.partner[i + 1]
            if close == i + 2:
                raise MergeSyntaxError(
                    "IDENTIFIER wants a string", sql.span(i, close + 1), "IDENTIFIER('schema.table')"
                )
            value = literal(sql.word(i + 2)) if close == i + 3 and sql.kind(i + 2) == "string" else None
            value_parts = name_parts(value) if value is not None else ()
            if not value_parts:
                is_known, computed = False, (i + 2, close)
            parts += value_parts
            i = close + 1
        else:
            parts.append(unquote(sql.word(i)))
            i += 1
        if sql.key(i) != ".":
            break
        i += 1
    if sql.key(i) == "-" and sql.kind(i + 1) in ("word", "name"):
        whole = sql.span(start, i + 2)
        raise MergeSyntaxError(
            f'"{whole.of(sql.text)}" is no name', whole, f"write it in backquotes: `{whole.of(sql.text)}`"
        )
    return Name(tuple(parts) if is_known else (), i, computed)


def _no_name(sql: Sql, i: int, subject: str) -> MergeSyntaxError:
    if sql.kind(i) == "string":
        hint = f"quote a name with backquotes: `{sql.word(i)[1:-1]}`"
        return MergeSyntaxError(f"{subject} is a string", sql.at(i), hint)
    if i >= len(sql.tokens):
        return MergeSyntaxError(f"{subject} is missing", sql.at(i))
    note = "a hint follows SELECT only" if sql.key(i) == "/*+" else None
    return MergeSyntaxError(f'{subject} is missing in front of "{sql.word(i)}"', sql.at(i), note)


def read_alias(sql: Sql, i: int, following: str) -> tuple[str | None, int]:
    """The alias at token `i`, if there is one, and the index after it; `following` is the next word."""
    if sql.key(i) == following or i >= len(sql.tokens):
        return None, i
    _no_time_travel(sql, i)
    if sql.key(i) == "AS" and sql.key(i + 1) != following:
        i += 1
    elif sql.kind(i) not in ("word", "name") or sql.key(i) in NO_ALIAS:
        return None, i  # the caller says which word it wants instead
    if sql.kind(i) not in ("word", "name"):
        raise _no_name(sql, i, "the alias")
    if sql.key(i) in NO_ALIAS:
        raise MergeSyntaxError(
            f"{sql.word(i)} cannot be an alias", sql.at(i), f"write it in backquotes: `{sql.word(i)}`"
        )
    alias = unquote(sql.word(i))
    i += 1
    if alias.upper() == "IDENTIFIER" and sql.key(i) == "(" and sql.kind(i + 1) == "string":
        alias = literal(sql.word(i + 1)) or alias
        i = sql.partner[i] + 1
    if sql.key(i) == "(":
        raise MergeSyntaxError(
            "column aliases are not allowed here",
            sql.span(i, sql.partner[i] + 1),
            "name the columns inside the query",
            kind="unsupported",
        )
    _no_time_travel(sql, i)
    return alias, i


def _no_time_travel(sql: Sql, i: int) -> None:
    if changes_end(sql, i, len(sql.tokens)) is not None:
        raise MergeSyntaxError(
            "the changes of a table are no table of a MERGE",
            sql.span(i, i + 2),
            "a source can be: USING (SELECT * FROM s CHANGES FROM VERSION 1) AS s",
            kind="unsupported",
        )
    first = i + 1 if sql.key(i) == "FOR" else i
    words = ("VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME")
    if sql.key(first) in words and sql.key(first + 1) == "AS" and sql.key(first + 2) == "OF":
        raise MergeSyntaxError(
            "a table of a MERGE cannot be read as of a version",
            sql.span(i, first + 3),
            "a source can: USING (SELECT * FROM s VERSION AS OF 1) AS s",
            kind="unsupported",
        )
