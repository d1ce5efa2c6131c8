"""What the names of a model are, for an editor's colors: also those of SQL in the strings that macros take."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

from merge_runner.lsp.answers.token_kinds import Kind
from merge_runner.lsp.syntax.statements import statements
from merge_runner.lsp.syntax.tokens import Scanned, Token, calls
from merge_runner.text import Span

_COLUMN = re.compile(r"(?<![\w.])(?P<qualifier>[A-Za-z_]\w*)\.(?P<column>[A-Za-z_]\w*)")


@dataclass(frozen=True, order=True)
class SemanticToken:
    """A name in a line, and what it is."""

    span: Span
    kind: Kind


def semantic_tokens(macros: Container[str], text: str) -> list[SemanticToken]:
    """Return the names of a file with SQL and Jinja, in the order of the text; none overlaps another.

    `macros` are those of its project, whose texts may be SQL.
    """
    syntax = statements(text)
    names = {
        relation.qualifier.casefold()
        for select in syntax.selects
        for relation in select.relations
        if relation.qualifier
    }
    tokens = {token.span: token for token in (*_sql(syntax.scan, names), *_jinja(macros, syntax.scan, names))}
    for cte in syntax.ctes:
        tokens[cte.span] = SemanticToken(cte.span, "class")
    return sorted(tokens.values())


def _sql(scan: Scanned, names: set[str]) -> Iterator[SemanticToken]:
    tokens = [token for token in scan.tokens if token.tag < 0 and token.kind != "comment"]
    for number, token in enumerate(tokens):
        if not token.is_name or token.value.casefold() not in names:
            continue
        yield SemanticToken(token.span, "variable")
        after = tokens[number + 1 : number + 3]
        if len(after) == 2 and after[0].text == "." and after[0].start == token.end and after[1].is_name:
            yield SemanticToken(after[1].span, "property")


def _jinja(macros: Container[str], scan: Scanned, names: set[str]) -> Iterator[SemanticToken]:
    for number, _ in enumerate(scan.tags):
        for call in calls(scan.of_tag(number)):
            yield SemanticToken(call.name.span, "function")
            for argument in call.arguments:
                if argument.keyword is not None:
                    yield SemanticToken(argument.keyword.span, "parameter")
                if argument.text is not None and argument.text.value:
                    yield from _string(macros, call.name.text, argument.text, names)


def _string(macros: Container[str], callee: str, string: Token, names: set[str]) -> Iterator[SemanticToken]:
    if callee in ("ref", "changes", "source"):
        yield SemanticToken(string.value_span, "class")
    elif callee in ("var", "env_var"):
        yield SemanticToken(string.value_span, "variable")
    elif callee in macros:
        for column in _COLUMN.finditer(string.value):
            if column["qualifier"].casefold() in names:
                start = string.value_span.start
                yield SemanticToken(Span(start + column.start(1), start + column.end(1)), "variable")
                yield SemanticToken(Span(start + column.start(2), start + column.end(2)), "property")
