"""Keys that INSERT stores in another form, or type, than ON compares: no run finds such a row again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merge_runner.formats.types import DataType, parse_type
from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.pruning.judge.insert_consistency import TARGET, inserted_rows, on_terms
from merge_runner.pruning.judge.key_functions import Form, fineness, form_of, is_computed
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import condition
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.term import Call, Col, Term
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import Lookup, SourceFacts
from merge_runner.text import Span


@dataclass(frozen=True)
class StoredKey:
    """A column of ON that an INSERT clause fills with another value than ON compares it with.

    `at` is the value that is inserted, or the clause with `INSERT *`; `why` says in words how the two differ.
    """

    clause: Clause
    column: str
    at: Span
    why: str


def differing_stored_keys(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts, lookup: Lookup
) -> Iterator[StoredKey]:
    """The keys that are stored rounded, cut or in other letters than they are compared.

    Both values are made of one column of the source. What the source computes itself may have the stored form already.
    """
    for clause in statement.clauses:
        if clause.action != "insert":
            continue
        rows = inserted_rows(clause, statement, layout, scope, source)
        for conjunct in statement.on:
            tree = conjunct.expression
            test = condition(tree, on_terms(scope)) if tree is not None else None
            if tree is None or not isinstance(test, Call) or test.name not in ("=", "<=>"):
                continue
            for own, other in (test.args, test.args[::-1]):
                target = form_of(own)
                value = rows.value(target.column.name) if target is not None else None
                if target is None or target.column.relation != TARGET or target.column.path or value is None:
                    continue
                if (difference := _difference(own, other, target.column, value, layout, source)) is None:
                    continue
                if is_computed(difference.column, statement, lookup, difference.forms):
                    continue
                column = next(ref.column for ref in scope.columns(tree) if ref.side == "target")
                yield StoredKey(clause, column, _place(clause, column), difference.words)


@dataclass(frozen=True)
class _Difference:
    """How a stored value of a source's column differs from the compared one; `forms` where functions make it so."""

    words: str
    column: Col
    forms: tuple[Form, Form] | None = None


def _place(clause: Clause, column: str) -> Span:
    assignments = (
        assignment for assignment in clause.assignments if assignment.column[-1].casefold() == column.casefold()
    )
    return next((assignment.value.span for assignment in assignments), clause.span)


def _difference(
    own: Term, other: Term, column: Col, value: Term, layout: TableLayout, source: SourceFacts
) -> _Difference | None:
    """How the stored value, as ON reads it, differs from what ON compares it with; None: not that is known."""
    compared = form_of(other)
    stored = form_of(replaced(own, lambda part: value if part == column else None))
    if compared is None or stored is None or compared.column != stored.column:
        return None
    base = compared.column
    if compared == stored:
        words = _type_difference(value, other, column, base, layout, source) if own == column else None
        return _Difference(words, base) if words is not None else None
    words = f"INSERT stores {_in_words(value, base)}, and ON compares {_in_words(other, base)}"
    return _Difference(words, base, (compared, stored))


def _in_words(term: Term, column: Col) -> str:
    """The functions around a column, as SQL has them."""
    names = []
    while isinstance(term, Call):
        names.append(term.name.partition(":")[0] if not term.name.startswith("cast:") else "cast")
        term = term.args[0]
    return f"`{'('.join([*names, column.name])}{')' * len(names)}`"


def _type_difference(
    value: Term, other: Term, column: Col, base: Col, layout: TableLayout, source: SourceFacts
) -> str | None:
    """How the types of the column and of what is compared make the two differ."""
    target_column, source_column = layout.column(column.name), source.column(base.name)
    if target_column is None or target_column.data_type is None or source_column is None:
        return None
    stored = _coarsest([source_column.data_type, *_casts(value), target_column.data_type])
    compared = _coarsest([source_column.data_type, *_casts(other)])
    if stored is None or compared is None:
        return None
    if target_column.data_type.name == "float" and compared.name == "decimal" and compared.scale:
        stored = target_column.data_type
    if fineness(stored) == fineness(compared):
        return None
    return f"INSERT stores the key as {stored}, and ON compares {compared}"


def _casts(term: Term) -> list[DataType | None]:
    types: list[DataType | None] = []
    while isinstance(term, Call):
        if term.name.startswith(("cast:", "try_cast:")):
            types.append(parse_type(term.name.partition(":")[2]))
        term = term.args[0]
    return types


def _coarsest(types: list[DataType | None]) -> DataType | None:
    """The type of these that tells values apart the least; None where they are of several kinds, or not known."""
    ranks = [fineness(data_type) if data_type is not None else None for data_type in types]
    known_ranks = [
        (rank, data_type)
        for rank, data_type in zip(ranks, types, strict=True)
        if rank is not None and data_type is not None
    ]
    if len(known_ranks) < len(types) or len({kind for (kind, _), _ in known_ranks}) != 1:
        return None
    return min(known_ranks, key=lambda pair: pair[0][1])[1]
