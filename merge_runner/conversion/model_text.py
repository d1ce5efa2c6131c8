"""The text of a model out of a MERGE: its tables as `this`, `ref` and `source`, what is filled at run time as vars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from merge_runner.conversion.found_merge import FoundMerge
from merge_runner.merge.expression import unquote
from merge_runner.merge.splice import splice
from merge_runner.merge.statement import Expr
from merge_runner.merge.syntax.placeholder import PLACEHOLDER, as_written, has_placeholder
from merge_runner.merge.syntax.sql import Sql, tokenize
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.text import Span

Call = Callable[[tuple[str, ...]], str | None]
"""Gives the Jinja call for the parts of a table's name; None where the name stays as it is."""

_PLACEHOLDER = re.compile(PLACEHOLDER)
_BEFORE_VALUE = frozenset(
    {"=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "||", "BETWEEN", ","}
)


@dataclass
class Vars:
    """The vars of a project: a name for each spelling of what is filled at run time, and the models that use it."""

    names: dict[str, str] = field(default_factory=dict)

    def name(self, spelling: str) -> str:
        """Return the var of a placeholder as its author wrote it; the same one for the same spelling."""
        if spelling not in self.names:
            wanted = "_".join(re.findall(r"[A-Za-z]\w*", spelling)[-2:]).lower() or "parameter"
            taken, number, name = set(self.names.values()), 1, wanted
            while name in taken:
                number += 1
                name = f"{wanted}_{number}"
            self.names[spelling] = name
        return self.names[spelling]


def model_text(found: FoundMerge, call: Call, vars: Vars) -> tuple[str, list[str]]:
    """Return the statement of a model, and the spellings of what is filled at run time in it.

    The target is `{{ this }}`, with its table's name as alias where it has none; a table of the source is what `call`
    gives.
    """
    statement = found.statement
    target = statement.target
    alias = f" as {_quoted(target.parts[-1])}" if target.alias is None and target.parts else ""
    edits = [(target.relation, "{{ this }}" + alias)]
    for span, parts in _tables(found):
        written = call(parts)
        if written is not None:
            unnamed = statement.source.alias is None and span == statement.source.relation
            edits.append((span, written + (f" as {_quoted(parts[-1])}" if unnamed else "")))
    spellings: list[str] = []
    for span, written, spelling in _filled(tokenize(statement.text), vars):
        if not any(span.start < edit.end and edit.start < span.end for edit, _ in edits):
            edits.append((span, written))
            spellings.append(spelling)
    text = splice(statement.text, edits)
    tail = len(statement.text) - statement.span.end
    return text[statement.span.start : len(text) - tail].strip(), list(dict.fromkeys(spellings))


def config_text(layout: TableLayout | None, **others: str | None) -> str:
    """Return the `config(…)` of a model: the layout of its table, where that is known, and `others`."""
    entries = {name: repr(value) for name, value in others.items() if value is not None}
    if layout is not None:
        if layout.format is not None:
            entries["format"] = repr(layout.format)
        for name, columns in (("partition_by", layout.partition_by), ("cluster_by", layout.cluster_by)):
            if columns:
                entries[name] = repr([str(column) for column in columns])
        if layout.properties:
            entries["properties"] = repr(dict(layout.properties))
    return (
        "{{ config(" + ", ".join(f"{name}={value}" for name, value in entries.items()) + ") }}\n\n" if entries else ""
    )


def _tables(found: FoundMerge) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the tables that the source reads, with the spans of their names in the statement."""
    statement = found.statement
    ctes = {cte.name.casefold() for cte in statement.ctes}
    source = statement.source
    if source.parts and not (len(source.parts) == 1 and source.parts[0].casefold() in ctes):
        yield source.relation, source.parts
    queries = [cte.query for cte in statement.ctes] + ([source.query] if source.query is not None else [])
    for query in queries:
        yield from _tables_of(query, ctes)


def _tables_of(query: Expr, ctes: set[str]) -> Iterator[tuple[Span, tuple[str, ...]]]:
    from sqlglot import exp

    if query.expression is None:
        return
    own = {cte.alias.casefold() for cte in query.expression.find_all(exp.CTE)} | ctes
    for table in query.expression.find_all(exp.Table):
        names = [part for part in table.parts if isinstance(part, exp.Identifier)]
        placed = len(names) == len(table.parts) and all("start" in name.meta for name in names)
        if not names or not placed or (len(names) == 1 and names[0].name.casefold() in own):
            continue
        span = Span(query.span.start + names[0].meta["start"], query.span.start + names[-1].meta["end"] + 1)
        yield span, tuple(name.name for name in names)


def _filled(sql: Sql, vars: Vars) -> Iterator[tuple[Span, str, str]]:
    """Yield what is filled at run time, with the Jinja that fills it and its spelling: placeholders and parameters."""
    number = 0
    for i, token in enumerate(sql.tokens):
        word = sql.word(i)
        if token.key == ":" and sql.kind(i + 1) in ("word", "name") and _begins_value(sql, i):
            spelling = f":{unquote(sql.word(i + 1))}"
            yield Span(token.start, sql.tokens[i + 1].end), _literal(vars.name(spelling)), spelling
        elif token.key == "?":
            number += 1
            yield token.span, _literal(vars.name(f"?{number}")), f"?{number}"
        elif token.kind == "string" and _PLACEHOLDER.fullmatch(word[1:-1]) is not None:
            spelling = as_written(word[1:-1])
            yield token.span, _literal(vars.name(spelling)), spelling
        elif has_placeholder(word):
            whole = _PLACEHOLDER.fullmatch(word) is not None
            for piece in _PLACEHOLDER.finditer(word):
                spelling = as_written(piece[0])
                is_value = whole and sql.key(i - 1) in _BEFORE_VALUE and sql.key(i + 1) != "."
                name = vars.name(spelling)
                span = Span(token.start + piece.start(), token.start + piece.end())
                yield span, _literal(name) if is_value else f"{{{{ var('{name}') }}}}", spelling


def _begins_value(sql: Sql, i: int) -> bool:
    """Whether the colon is that of a parameter, and not of a path into a value (`payload:field`)."""
    return i == 0 or sql.tokens[i - 1].end < sql.tokens[i].start or sql.tokens[i - 1].kind == "op"


def _literal(name: str) -> str:
    return f"{{{{ var('{name}') | literal }}}}"


def _quoted(name: str) -> str:
    from merge_runner.relation import quote

    return quote(as_written(name))
