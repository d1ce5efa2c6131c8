"""Small changes of a MERGE, each of which some unit test should notice: one piece is left out or turned round."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from merge_runner.merge.splice import splice
from merge_runner.merge.split import equality_sides, split
from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.merge.syntax.lexer import Token, lex
from merge_runner.relation import quote
from merge_runner.text import Span

_TURNED = {">": ">=", ">=": ">", "<": "<=", "<=": "<", "=": "<>", "==": "<>", "<>": "=", "!=": "=", "<=>": "<>"}
"""What replaces each comparison: the edge of an inequality, the opposite of an equality."""
_KINDS = {
    "matched": "WHEN MATCHED",
    "not_matched": "WHEN NOT MATCHED",
    "not_matched_by_source": "WHEN NOT MATCHED BY SOURCE",
}


_NULL = re.compile(r"null|cast\(\s*null\s+as\s+[^()]+(?:\([\d\s,]*\))?\s*\)|null\s*::\s*\w+", re.IGNORECASE)


@dataclass(frozen=True)
class Mutant:
    """One change of a statement. `name` is the same in every rendering of a model that has the same pieces.

    `words` say what is changed, `span` is the piece in the statement's text, `text` the statement with the change.
    """

    name: str
    words: str
    span: Span
    text: str


@dataclass(frozen=True)
class _Change:
    name: str
    words: str
    span: Span
    edit: tuple[Span, str]


def mutants(
    statement: MergeStatement, columns: Sequence[str] | None, filled: Collection[str] | None = None
) -> list[Mutant]:
    """The changes of a statement, in the order of its text.

    A change that no rows could show is not among them, where the text and the declared columns prove that: NULL for a
    value that is NULL, a column that is set to what it is. `filled` are the columns that have a default or are
    generated, None where that is not known.

    A condition or conjunct that is left out is `true`, a clause that is left out has the condition `false`: the rest
    stays as it is, and Spark takes it. `columns` are those of the target, None where they are not known: then the
    columns of SET * and INSERT * are not changed one by one. Keys of ON are not left out of SET: they are equal.
    """
    tokens = lex(statement.text)
    changes = [
        *_in_query(statement, tokens),
        *_in_on(statement, tokens),
        *(change for number, _ in enumerate(statement.clauses) for change in _in_clause(statement, number, tokens)),
        *(
            change
            for number, clause in enumerate(statement.clauses)
            for change in _in_values(statement, number, clause, columns, filled)
        ),
    ]
    changes = [change for change in changes if _plain(change.edit[0].of(statement.text)) != _plain(change.edit[1])]
    changes.sort(key=lambda change: (change.span.start, change.name))
    return [Mutant(change.name, change.words, change.span, splice(statement.text, [change.edit])) for change in changes]


def _in_query(statement: MergeStatement, tokens: Sequence[Token]) -> Iterator[_Change]:
    """Comparisons, and the direction of sorting, in the source's query and in common table expressions."""
    spans = [cte.query.span for cte in statement.ctes]
    if statement.source.query is not None:
        spans.append(statement.source.query.span)
    for number, span in enumerate(spans):
        inside = [token for token in tokens if span.start <= token.start < span.end]
        yield from _turned(inside, f"query {number + 1}", "the source's query")
        directions = [token for token in inside if token.key in ("DESC", "ASC")]
        for count, token in enumerate(directions, 1):
            other = "asc" if token.key == "DESC" else "desc"
            words = f"the source's query sorts {other} instead of {token.key.lower()}"
            yield _Change(f"query {number + 1} direction {count}", words, token.span, (token.span, other))


def _in_on(statement: MergeStatement, tokens: Sequence[Token]) -> Iterator[_Change]:
    for number, conjunct in enumerate(statement.on, 1):
        yield _Change(f"on {number}", f"ON without {_show(conjunct.text)}", conjunct.span, (conjunct.span, "true"))
    inside = [token for token in tokens if statement.on_span.start <= token.start < statement.on_span.end]
    yield from _turned(inside, "on", "ON")


def _in_clause(statement: MergeStatement, number: int, tokens: Sequence[Token]) -> Iterator[_Change]:
    clause = statement.clauses[number]
    name, words = f"clause {number + 1}", _clause_name(clause)
    inside = [token for token in tokens if clause.span.start <= token.start < clause.span.end]
    condition = clause.condition
    if condition is None:
        then = next(token for token in inside if token.key == "THEN")
        edit = Span(then.start, then.start), "and false "
        yield _Change(name, f"without {words}", clause.span, edit)
        return
    yield _Change(name, f"without {words}", clause.span, (condition.span, "false"))
    yield _Change(f"{name} condition", f"{words} without its condition", condition.span, (condition.span, "true"))
    conjuncts = split(condition)
    for count, conjunct in enumerate(conjuncts if len(conjuncts) > 1 else (), 1):
        left_out = f"{words} without {_show(conjunct.text)}"
        yield _Change(f"{name} condition {count}", left_out, conjunct.span, (conjunct.span, "true"))
    compared = [token for token in inside if condition.span.start <= token.start < condition.span.end]
    yield from _turned(compared, name, f"the condition of {words}")


def _in_values(
    statement: MergeStatement,
    number: int,
    clause: Clause,
    columns: Sequence[str] | None,
    filled: Collection[str] | None,
) -> Iterator[_Change]:
    name, words = f"clause {number + 1}", _clause_name(clause)
    for assignment in clause.assignments:
        column, value = assignment.column[-1], assignment.value.text
        if clause.action == "update" and _is_kept(statement, clause, column, value):
            continue
        if clause.action == "insert" and _is_null(clause, column, value, filled):
            continue
        if clause.action == "update":
            edit = assignment.value.span, _target_column(statement, column)
            yield _Change(f"{name} set {column}", f"{words} does not set {column}", assignment.span, edit)
        else:
            edit = assignment.value.span, "NULL"
            yield _Change(f"{name} value {column}", f"{words} gives {column} no value", assignment.span, edit)
    if clause.star and columns is not None and statement.source.qualifier is not None:
        yield from _in_star(statement, clause, name, columns, filled)


def _in_star(
    statement: MergeStatement, clause: Clause, name: str, columns: Sequence[str], filled: Collection[str] | None
) -> Iterator[_Change]:
    """The same for SET * and INSERT *, written out."""
    star, words = _star(statement.text, clause), _clause_name(clause)
    of_source = {column: f"{quote(statement.source.qualifier or '')}.{quote(column)}" for column in columns}
    keys = frozenset(_key_columns(statement))
    for column in columns:
        if clause.action == "update" and column.lower() not in keys:
            values = {**of_source, column: _target_column(statement, column)}
            text = ", ".join(f"{quote(name_in_star)} = {value}" for name_in_star, value in values.items())
            yield _Change(f"{name} set {column}", f"{words} does not set {column}", clause.span, (star, text))
        if clause.action == "insert" and not _is_null(clause, column, of_source[column], filled):
            values = {**of_source, column: "NULL"}
            text = f"({', '.join(map(quote, values))}) values ({', '.join(values.values())})"
            yield _Change(f"{name} value {column}", f"{words} gives {column} no value", clause.span, (star, text))


def _is_null(clause: Clause, column: str, value: str, filled: Collection[str] | None) -> bool:
    """Whether what INSERT gives a column is NULL already: literally, by default, or since its clause asks for it."""
    if _NULL.fullmatch(value.strip()):
        return True
    if value.strip().upper() == "DEFAULT":
        return filled is not None and column.lower() not in {name.lower() for name in filled}
    conditions = (conjunct.rsplit(None, 2) for conjunct in _conjuncts(clause))
    return _plain(value) in {
        _plain(words[0]) for words in conditions if [word.lower() for word in words[1:]] == ["is", "null"]
    }


def _is_kept(statement: MergeStatement, clause: Clause, column: str, value: str) -> bool:
    """Whether SET gives a column of a matched row what it has: by ON, both are equal."""
    if clause.kind != "matched":
        return False
    own, own_value = _plain(_target_column(statement, column)), _plain(value)
    for conjunct in statement.on:
        sides = equality_sides(conjunct)
        if sides is not None and {own, own_value} == {_plain(side.of(statement.text)) for side in sides}:
            return True
    return False


def _conjuncts(clause: Clause) -> Iterator[str]:
    if clause.condition is not None:
        yield from (conjunct.text.strip() for conjunct in split(clause.condition))


def _plain(text: str) -> str:
    """A piece of SQL as pieces compare: names without case and backquotes, any blanks as one."""
    return " ".join(text.split()) if "'" in text or '"' in text else " ".join(text.replace("`", "").lower().split())


def _target_column(statement: MergeStatement, column: str) -> str:
    """The target's own value of a column."""
    return f"{quote(statement.target.qualifier or '')}.{quote(column)}"


def _turned(tokens: Sequence[Token], name: str, where: str) -> Iterator[_Change]:
    """Each comparison among the tokens, turned round."""
    count = depth = 0
    for number, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.key == "<" and number and tokens[number - 1].key in ("ARRAY", "MAP", "STRUCT"):
            depth += 1  # the angle of a type
        elif depth and token.key in (">", ">>"):
            depth -= len(token.key)
        elif not depth and token.key in _TURNED:
            count, other = count + 1, _TURNED[token.key]
            words = f"{where} with {other} in place of {token.key}"
            yield _Change(f"{name} comparison {count}", words, token.span, (token.span, other))


def _star(text: str, clause: Clause) -> Span:
    """The star of UPDATE SET * or INSERT *, which ends its clause."""
    return next(token.span for token in reversed(lex(text[: clause.span.end])) if token.key == "*")


def _key_columns(statement: MergeStatement) -> Iterator[str]:
    """Names on either side of an equality in ON: the target's among them are those that the source's equal."""
    for conjunct in statement.on:
        for side in equality_sides(conjunct) or ():
            yield side.of(statement.text).rpartition(".")[2].strip("` \n\t").lower()


def _clause_name(clause: Clause) -> str:
    return f"{_KINDS[clause.kind]} THEN {clause.action.upper()}"


def _show(text: str) -> str:
    return f"`{' '.join(text.split())}`"
