"""Names that are qualified by something that is neither the target nor the source of their MERGE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sqlglot import exp

from merge_runner.errors import nearest
from merge_runner.merge.statement import Assignment, Expr, MergeStatement, Source, Target
from merge_runner.merge.syntax.placeholder import has_placeholder
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import SourceFacts
from merge_runner.sql.names import fold, name_parts
from merge_runner.text import Span

Evidence = Literal["no such column", "hidden by an alias", "inside USING", "misspelled", "the source in SET"]
"""Why a name before a dot is no column with fields: no table has such a column, or the word itself shows it."""

_ELSEWHERE = frozenset({"session", "system", "_metadata", "_partition"})
"""First parts of session variables, and hidden columns with fields."""
_SHORTEST_MISSPELLED = 3
_OF_DBT = "dbt_internal_dest"
"""The alias of the target in the MERGEs that dbt writes."""


@dataclass(frozen=True)
class UnknownQualifier:
    """The first name with the qualifier `word`: `column` is what follows it, `span` that of its first part.

    `suggestion` is the qualifier that the author may have meant; `count` the number of names that are qualified so, or
    by another form of the table's name, as `u` and `raw.u` are; `words` are the first parts of all of them, folded.
    """

    word: str
    column: str
    span: Span
    evidence: Evidence
    suggestion: str | None
    count: int
    words: frozenset[str]


@dataclass(frozen=True)
class _Name:
    parts: tuple[str, ...]
    span: Span
    """Of its first part."""
    sides: frozenset[str]
    """The sides that have a row there."""
    is_assigned: bool = False


_BOTH = frozenset({"target", "source"})
_SIDES = {"not_matched": frozenset({"source"}), "not_matched_by_source": frozenset({"target"})}


def unknown_qualifiers(
    statement: MergeStatement, layout: TableLayout, source: SourceFacts, scope: Scope
) -> tuple[UnknownQualifier, ...]:
    """Return the qualifiers of names in ON, SET, VALUES and conditions that are neither target nor source.

    One that may be a column with fields is none: where the columns of both sides are not all known, the word itself has
    to show that it is a table. In a source query without an alias, Spark sees the names inside it (measured on Delta
    4.1 and Iceberg 1.10), and nothing is returned.
    """
    return tuple(_Qualifiers(statement, layout, source, scope).findings())


class _Qualifiers:
    def __init__(self, statement: MergeStatement, layout: TableLayout, source: SourceFacts, scope: Scope) -> None:
        self.statement = statement
        self.layout = layout
        self.source = source
        self.scope = scope

    def findings(self) -> Iterator[UnknownQualifier]:
        statement = self.statement
        for relation in (statement.target, statement.source):
            if relation.qualifier is None or (relation.alias is None and has_placeholder(relation.parts[-1])):
                return
        evidence_of: dict[str, Evidence] = {}
        names_of: dict[tuple[str, str], list[_Name]] = {}
        for name in self._names():
            word = name.parts[0].casefold()
            evidence = evidence_of.get(word) or self._evidence(name)
            if evidence is not None:
                evidence_of[word] = evidence
                hidden = self._hidden(name) if evidence == "hidden by an alias" else None
                names_of.setdefault(("alias", hidden[1]) if hidden is not None else ("word", word), []).append(name)
        for names in names_of.values():
            name, words = names[0], frozenset(name.parts[0].casefold() for name in names)
            evidence = evidence_of[name.parts[0].casefold()]
            qualifier, suggestion = name.parts[0], nearest(name.parts[0], self._qualifiers)
            if evidence == "inside USING":
                suggestion = self.statement.source.qualifier
            elif evidence == "hidden by an alias":
                qualifier, suggestion = self._hidden(name) or (qualifier, suggestion)
            column = ".".join(name.parts[qualifier.count(".") + 1 :])
            yield UnknownQualifier(qualifier, column, name.span, evidence, suggestion, len(names), words)

    def _names(self) -> Iterator[_Name]:
        """The names with a qualifier that neither side has, in the order of the text."""
        for conjunct in self.statement.on:
            yield from self._in_expression(conjunct, _BOTH)
        for clause in self.statement.clauses:
            sides = _SIDES.get(clause.kind, _BOTH)
            if clause.condition is not None:
                yield from self._in_expression(clause.condition, sides)
            for assignment in clause.assignments:
                yield from self._names_assigned(assignment)
                yield from self._in_expression(assignment.value, sides)

    def _in_expression(self, expr: Expr, sides: frozenset[str]) -> Iterator[_Name]:
        if expr.expression is None:
            return
        todo: list[exp.Expr] = [expr.expression]
        while todo:
            node = todo.pop()
            parts = name_parts(node)
            if parts is not None:
                if len(parts) > 1 and not self._is_known(parts) and not _is_lambdas(node, parts[0]):
                    yield _Name(parts, _first(node, expr), sides)
            elif not isinstance(node, exp.Query):
                todo += reversed(list(node.iter_expressions()))

    def _names_assigned(self, assignment: Assignment) -> Iterator[_Name]:
        parts = assignment.column
        folded = fold(parts)
        if len(parts) > 1 and not self._is_of(folded, self.scope.target_names):
            start = assignment.span.start
            length = self.statement.text[start : assignment.span.end].find(".")
            yield _Name(parts, Span(start, start + max(length, 1)), frozenset({"target"}), is_assigned=True)

    def _is_known(self, parts: tuple[str, ...]) -> bool:
        folded = fold(parts)
        return self._is_of(folded, (*self.scope.target_names, *self.scope.source_names))

    def _is_of(self, folded: tuple[str, ...], names: tuple[tuple[str, ...], ...]) -> bool:
        if any(len(folded) > len(name) and folded[: len(name)] == name for name in names):
            return True
        # `db.t.id`, where the statement names `t` without an alias, and `db` is the schema of the session.
        return any(
            len(folded) > at + 1 and all(a == b for a, b in zip(folded[at::-1], name[::-1], strict=False))
            for name in names
            if name[-1:] not in self._aliases and not any(other[1:] == name for other in names)
            for at in range(len(name), 3)
        )

    def _evidence(self, name: _Name) -> Evidence | None:
        word = name.parts[0].casefold()
        if any(map(has_placeholder, name.parts)) or word in _ELSEWHERE:
            return None
        if name.is_assigned and (word,) in self.scope.source_names:
            return "the source in SET" if self.layout.has_column(word) is not True else None
        if name.is_assigned and self.statement.schema_evolution:
            return None  # the column may be new
        has = [self._target_has(word)] if "target" in name.sides else []
        has += [self.source.has_column(word)] if "source" in name.sides else []
        if True in has or word in self._columns:
            return None
        if self._hidden(name) is not None:
            return "hidden by an alias"
        if word in self._inside:
            return "inside USING"
        if None not in has:
            return "no such column"
        return "misspelled" if any(_is_slip(word, qualifier.casefold()) for qualifier in self._qualifiers) else None

    def _target_has(self, word: str) -> bool | None:
        """Whether the target has the column; the table of a dbt model has those of its query."""
        has_column = self.layout.has_column(word)
        is_dbt = (self.statement.target.alias or "").casefold() == _OF_DBT
        return self.source.has_column(word) if has_column is None and is_dbt else has_column

    def _hidden(self, name: _Name) -> tuple[str, str] | None:
        """The name of a table that has an alias, where the name is qualified by it, and the alias."""
        folded = fold(name.parts)
        for relation in self._relations:
            table = fold(relation.parts)
            for start in range(len(table)):
                size = len(table) - start
                if relation.alias and len(folded) > size and folded[:size] == table[start:]:
                    return ".".join(name.parts[:size]), relation.alias
        return None

    @cached_property
    def _relations(self) -> tuple[Target | Source, ...]:
        return (self.statement.target, self.statement.source)

    @cached_property
    def _qualifiers(self) -> list[str]:
        return [relation.qualifier for relation in self._relations if relation.qualifier]

    @cached_property
    def _aliases(self) -> set[tuple[str, ...]]:
        return {(relation.alias.casefold(),) for relation in self._relations if relation.alias}

    @cached_property
    def _queries(self) -> list[exp.Expr]:
        query = self.statement.source.query
        return [query.expression] if query is not None and query.expression is not None else []

    @cached_property
    def _inside(self) -> set[str]:
        """The names of tables in the query of USING, and of CTEs."""
        names = {cte.name.casefold() for cte in self.statement.ctes}
        for query in self._queries:
            relations = query.find_all(exp.Table, exp.Subquery, exp.CTE)
            names |= {relation.alias_or_name.casefold() for relation in relations if relation.alias_or_name}
        return names

    @cached_property
    def _columns(self) -> set[str]:
        """Names that the text uses as columns: unqualified, last, or assigned."""
        names: set[str] = set()
        for clause in self.statement.clauses:
            names |= {assignment.column[-1].casefold() for assignment in clause.assignments}
        trees = [conjunct.expression for conjunct in self.statement.on if conjunct.expression is not None]
        for tree in (*self._queries, *trees):
            names |= {column.name.casefold() for column in tree.find_all(exp.Column)}
            names |= {alias.alias.casefold() for alias in tree.find_all(exp.Alias)}
        return names


def _first(node: exp.Expr, expr: Expr) -> Span:
    """Where the first part of a name is."""
    marks = [identifier.meta for identifier in node.find_all(exp.Identifier) if "start" in identifier.meta]
    if not marks:
        return expr.span
    first = min(marks, key=lambda mark: int(mark["start"]))
    return Span(expr.span.start + first["start"], expr.span.start + first["end"] + 1)


def _is_lambdas(node: exp.Expr, word: str) -> bool:
    """Whether a lambda around the name has a parameter that is called so."""
    around = node.parent
    while around is not None:
        if isinstance(around, exp.Lambda) and any(
            parameter.name.casefold() == word.casefold() for parameter in around.expressions
        ):
            return True
        around = around.parent
    return False


def _is_slip(word: str, qualifier: str) -> bool:
    """Whether one letter is wrong, missing, too many, or two neighbours are swapped; not a plural, nor a number."""
    if min(len(word), len(qualifier)) < _SHORTEST_MISSPELLED or word == qualifier:
        return False
    head = next(
        (i for i, (a, b) in enumerate(zip(word, qualifier, strict=False)) if a != b), min(len(word), len(qualifier))
    )
    one, other = word[head:], qualifier[head:]
    if any(char.isdigit() for char in one[:1] + other[:1]) or {one, other} == {"", "s"}:
        return False
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other or one == other[1:] or one[1:] == other[1:]
