"""The text of a model out of a MERGE: its tables as `this`, `ref` and `source`, what is filled at run time as vars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from merge_runner.merge.expression import unquote
from merge_runner.merge.read_query import read_query
from merge_runner.merge.relation_name import read_name
from merge_runner.merge.splice import splice
from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.merge.syntax.forms import begins_changes
from merge_runner.merge.syntax.placeholder import PLACEHOLDER, as_written, has_placeholder
from merge_runner.merge.syntax.sql import Sql, tokenize
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.relation import quote
from merge_runner.sql.ctes import Ctes, named_tables, names_cte, source_queries
from merge_runner.text import Span

Call = Callable[[tuple[str, ...]], str | None]
"""Gives the Jinja call for the parts of a table's name; None where the name stays as it is."""

_PLACEHOLDER = re.compile(PLACEHOLDER)
_BEFORE_VALUE = frozenset(
    {"=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "||", "BETWEEN", ","}
)


@dataclass
class Vars:
    """The vars of a project: one for each name in a file. `spellings` has what its author wrote, by var."""

    names: dict[tuple[str, str], str] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)

    def name(self, path: str, spelling: str) -> str:
        """Return the var of what is filled at run time in a file."""
        words = re.findall(r"[A-Za-z_]\w*", spelling)
        key = path, words[-1].lower() if words else spelling
        if key not in self.names:
            base, number = words[-1].lower() if words else "parameter", 1
            name = base
            while name in self.spellings:
                number += 1
                name = f"{base}_{number}"
            self.names[key], self.spellings[name] = name, spelling
        return self.names[key]


@dataclass
class ModelText:
    """Makes the text of a model out of a statement, or a query, of the file `path`.

    `call` gives what a table becomes, `variables` are the session variables of the file, case folded. `filled` has the
    vars that the text uses, with what its author wrote for each.
    """

    path: str
    call: Call
    vars: Vars
    variables: frozenset[str] = frozenset()
    filled: dict[str, str] = field(default_factory=dict)

    def of_merge(self, statement: MergeStatement) -> str:
        """Return a MERGE into `{{ this }}`. A table without an alias gets one, and columns are qualified by that."""
        target, source = statement.target, statement.source
        inside = [cte.query.span for cte in statement.ctes] + [source.relation, target.relation]
        sql = tokenize(statement.text)
        edits = []
        own = target.alias
        if own is None and target.parts:
            own = _quote_name(target.parts[-1])
            edits += _requalify(sql, target.parts, own, inside)
        edits.append((target.relation, "{{ this }}" + (f" as {own}" if target.alias is None and own else "")))
        for span, parts in _tables(statement):
            call = self.call(parts)
            if call is None:
                continue
            if source.alias is None and span == source.relation:
                alias = _quote_name(parts[-1])
                alias = f"{alias}_source" if alias == own else alias
                edits += _requalify(sql, parts, alias, inside)
                call += f" as {alias}"
            edits.append((span, call))
        self._fill(sql, edits, _columns(sql, statement))
        text = splice(statement.text, edits)
        return text[statement.span.start : len(text) - (len(statement.text) - statement.span.end)].strip()

    def of_query(self, query: str) -> str:
        """Return a query, such as that of a temporary view."""
        query_tree = read_query(query)
        edits = [(span, call) for span, parts in _tables_of(query_tree, {}) if (call := self.call(parts))]
        sql = tokenize(query)
        self._fill(sql, edits)
        return splice(query, edits).strip()

    def _fill(self, sql: Sql, edits: list[tuple[Span, str]], columns: Sequence[Span] = ()) -> None:
        """Add edits for what is filled at run time and is in none of the edits: placeholders, parameters, variables.

        In the spans `columns` are names of columns that are assigned.
        """
        number = 0
        edited = [edit for edit, _ in edits]
        for i, token in enumerate(sql.tokens):
            word = sql.word(i)
            pieces: list[tuple[Span, str, str]] = []
            if token.key == ":" and sql.kind(i + 1) in ("word", "name") and _begins_value(sql, i):
                name = unquote(sql.word(i + 1))
                pieces.append((Span(token.start, sql.tokens[i + 1].end), f":{name}", _LITERAL))
            elif token.key == "?":
                number += 1
                pieces.append((token.span, f"?{number}", _LITERAL))
            elif token.kind == "string" and _PLACEHOLDER.fullmatch(word[1:-1]) is not None:
                pieces.append((token.span, word[1:-1], _TEXT))
            elif has_placeholder(word):
                is_value = _PLACEHOLDER.fullmatch(word) is not None and sql.key(i - 1) in _BEFORE_VALUE
                form = _LITERAL if is_value and sql.key(i + 1) != "." else _PIECE
                spans = [placeholder.span() for placeholder in _PLACEHOLDER.finditer(word)]
                pieces += [
                    (Span(token.start + start, token.start + end), word[start:end], form) for start, end in spans
                ]
            elif token.kind in ("word", "name") and token.span not in columns and self._is_variable(sql, i):
                start = sql.tokens[i - 2].start if sql.key(i - 1) == "." else token.start
                pieces.append((Span(start, token.end), unquote(word), _LITERAL))
            for span, spelling, form in pieces:
                if not any(span.start < edit.end and edit.start < span.end for edit in edited):
                    name = self.vars.name(self.path, as_written(spelling))
                    self.filled[name] = as_written(spelling)
                    edits.append((span, form.format(name=name)))

    def _is_variable(self, sql: Sql, i: int) -> bool:
        """Whether a token names a session variable, also as `session.x`."""
        if unquote(sql.word(i)).casefold() not in self.variables or sql.key(i + 1) in (".", "("):
            return False
        return sql.key(i - 1) != "." or (sql.word(i - 2).casefold() == "session" and sql.key(i - 3) != ".")


_LITERAL = "{{{{ var('{name}') | literal }}}}"
_TEXT = "{{{{ var('{name}') | string | literal }}}}"
"""What was in quotes stays a string, whatever the type of the var's value."""
_PIECE = "{{{{ var('{name}') }}}}"


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


def _tables(statement: MergeStatement) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the tables that the source reads, with the spans of their names in the statement."""
    ctes = {cte.name.casefold() for cte in statement.ctes}
    source = statement.source
    if source.parts and not names_cte(source.parts, ctes):
        yield source.relation, source.parts
    for query, visible in source_queries(statement):
        yield from _tables_of(query, visible)


def _tables_of(query: Expr, visible: Ctes) -> Iterator[tuple[Span, tuple[str, ...]]]:
    if query.expression is None:
        yield from _named_tables(query, set(visible))
        return
    for table, cte in named_tables(query.expression, visible):
        names = [part for part in table.parts if isinstance(part, exp.Identifier)]
        placed = len(names) == len(table.parts) and all("start" in name.meta for name in names)
        if cte is None and names and placed:
            span = Span(query.span.start + names[0].meta["start"], query.span.start + names[-1].meta["end"] + 1)
            yield span, tuple(name.name for name in names)


def _named_tables(query: Expr, ctes: set[str]) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the names after FROM and JOIN in a query that cannot be read, as one with a placeholder in it."""
    sql = tokenize(query.text)
    words = range(len(sql.tokens))
    own = {unquote(sql.word(i)).casefold() for i in words if sql.key(i + 1) == "AS" and sql.key(i + 2) == "("} | ctes
    for i in words:
        if sql.key(i) not in ("FROM", "JOIN") or sql.kind(i + 1) not in ("word", "name") or _is_argument(sql, i):
            continue
        if i and begins_changes(sql, i - 1):
            continue
        name = read_name(sql, i + 1)
        if sql.key(name.stop) != "(" and not (len(name.parts) == 1 and name.parts[0].casefold() in own):
            span = sql.span(i + 1, name.stop)
            yield Span(query.span.start + span.start, query.span.start + span.end), name.parts


def _is_argument(sql: Sql, i: int) -> bool:
    """Whether FROM is that of a function, as in `extract(year from ts)`, or of `is distinct from`."""
    around = max((at for at in range(i) if sql.key(at) == "(" and sql.partner[at] > i), default=None)
    return sql.key(i - 1) == "DISTINCT" or (
        around is not None and sql.key(around + 1) not in ("SELECT", "WITH", "FROM")
    )


def _requalify(sql: Sql, parts: tuple[str, ...], alias: str, inside: Sequence[Span]) -> list[tuple[Span, str]]:
    """Return edits that qualify columns by an alias where they are by the table's name with its schema.

    Names in the spans `inside` are those of tables or of other queries.
    """
    folded = [part.casefold() for part in parts]
    edits = []
    for i in range(len(sql.tokens)):
        if sql.kind(i) not in ("word", "name") or sql.key(i - 1) == "." or sql.key(i + 1) != ".":
            continue
        name = read_name(sql, i)
        *qualifier, column = [part.casefold() for part in name.parts]
        last = i + 2 * len(qualifier) - 1
        span = sql.span(i, last)
        own = any(nested.start <= span.start < nested.end for nested in inside)
        if not own and column and folded[-len(qualifier) :] == qualifier and qualifier != [alias.casefold()]:
            edits.append((span, alias))
    return edits


def _columns(sql: Sql, statement: MergeStatement) -> list[Span]:
    """Return the spans of the names of the columns that a MERGE assigns."""
    starts = {assignment.span.start for clause in statement.clauses for assignment in clause.assignments}
    return [token.span for token in sql.tokens if token.start in starts]


def _begins_value(sql: Sql, i: int) -> bool:
    """Whether the colon is that of a parameter, and not of a path into a value (`payload:field`)."""
    return i == 0 or sql.tokens[i - 1].end < sql.tokens[i].start or sql.tokens[i - 1].kind == "op"


def _quote_name(name: str) -> str:
    return quote(as_written(name))
