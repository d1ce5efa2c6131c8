"""Which rows a MERGE inserts that its own ON does not find again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.merge.name_places import names_span
from merge_runner.merge.statement import Clause, Conjunct, Expr, MergeStatement
from merge_runner.pruning.judge.insert_consistency import (
    TARGET,
    facts_of_clause,
    inserted_rows,
    on_terms,
    one_sided_filters,
    source_terms,
)
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.constant_value import NULL
from merge_runner.pruning.logic.restriction import strict_column
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, has_opaque, is_constant
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import SourceFacts


@dataclass(frozen=True)
class UnfilledKey:
    """A column of the target that ON joins by and an INSERT clause leaves NULL.

    `source` is the text of what it is equal to. `null` is the NULL that INSERT writes; None: the column is not in its
    list. `certain`: the columns of the table are known, so that nothing else gives it a value.
    """

    clause: Clause
    column: str
    source: str
    null: Expr | None
    certain: bool


def unfilled_keys(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[UnfilledKey]:
    """The join keys that INSERT clauses leave NULL: no row of the source matches what they insert.

    A key inside functions that give NULL for NULL counts. Columns that the table computes or fills are left out.
    """
    inserts = [
        clause for clause in statement.clauses if clause.action == "insert" and not (clause.star or clause.partial)
    ]
    keys = list(_keys(statement, scope)) if inserts else []
    for clause in inserts:
        values = {assignment.column[-1].casefold(): assignment.value for assignment in clause.assignments}
        facts = facts_of_clause(clause, scope, source)
        seen: set[str] = set()
        for name, side, text in keys:
            folded = name.casefold()
            if folded in seen or any(facts.implies(Call("isnull", (column,))) is not False for column in columns(side)):
                continue
            seen.add(folded)
            value = values.get(folded)
            if value is not None:
                if value.expression is not None and term(value.expression, source_terms(scope)) == NULL:
                    yield UnfilledKey(clause, name, text, value, True)
                continue
            column = layout.column(name)
            if layout.has_column(name) is False or (column is not None and (column.generated or column.filled)):
                continue
            yield UnfilledKey(clause, name, text, None, layout.complete)


def _keys(statement: MergeStatement, scope: Scope) -> Iterator[tuple[str, Term, str]]:
    """The columns of the target that are NULL only in rows that match nothing, each with what it is equal to."""
    for conjunct in statement.on:
        tree = conjunct.expression.unnest() if conjunct.expression is not None else None
        if not isinstance(tree, exp.EQ | exp.NullSafeEQ):
            continue
        for own, other in ((tree.this, tree.expression), (tree.expression, tree.this)):
            if scope.side(own) != "target" or scope.side(other) != "source":
                continue
            mine, theirs = term(own, on_terms(scope)), term(other, on_terms(scope))
            column = strict_column(mine) if mine is not None else None
            if column is not None and theirs is not None and not column.path and column.relation == TARGET:
                yield next(scope.columns(own)).column, theirs, _text(conjunct, other)


def _text(conjunct: Conjunct, node: exp.Expr) -> str:
    """The author's text of a part of a condition; empty where its place is not known."""
    span = names_span(node, 0)
    return span.of(conjunct.text) if span is not None and isinstance(node.unnest(), exp.Column) else ""


def unrepeated_source_filters(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[tuple[Conjunct, Clause]]:
    """The conditions of ON on the source alone that rows to be inserted need not satisfy, with the first such clause.

    An INSERT clause that restricts the same columns in another way decides about the other rows by itself. Left out are
    conditions that repeat one of the target's which `one_sided_filters` has, and what cannot be read or compared.
    """
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    filters = list(_source_filters(statement, scope, source)) if inserts and source.readable else []
    if not filters:
        return
    mirrored = set(_mirrored(statement, layout, scope, source, inserts))
    for conjunct, filter_term in filters:
        mine = set(columns(filter_term))
        if mine <= mirrored:
            continue
        for clause in inserts:
            own = _own_conditions(clause, scope)
            if any(has_opaque(part) or not mine.isdisjoint(columns(part)) for part in own):
                break
            rows = inserted_rows(clause, statement, layout, scope, source)
            if not rows.may_take_no_null(filter_term) and rows.facts.implies(filter_term) is False:
                yield conjunct, clause
                break


def _source_filters(statement: MergeStatement, scope: Scope, source: SourceFacts) -> Iterator[tuple[Conjunct, Term]]:
    for conjunct in statement.on:
        if conjunct.expression is None or scope.side(conjunct.expression) != "source":
            continue
        filter_term = condition(conjunct.expression, on_terms(scope))
        if has_opaque(filter_term) or is_constant(filter_term) or _is_tagged(filter_term, statement, source):
            continue
        yield conjunct, filter_term


def _is_tagged(filter_term: Term, statement: MergeStatement, source: SourceFacts) -> bool:
    """Whether USING makes the columns to steer what matches: by a CASE, or by a constant for each branch of a UNION."""
    queries = [statement.source.query, *(cte.query for cte in statement.ctes)]
    trees = [query.expression for query in queries if query is not None and query.expression is not None]
    aliases = [item for tree in trees for item in tree.find_all(exp.Alias)]
    united = any(tree.find(exp.Union) for tree in trees)
    kinds = (exp.Case, exp.If, exp.Literal, exp.Boolean, exp.Null) if united else (exp.Case, exp.If)
    computed = {item.alias.casefold() for item in aliases if isinstance(item.this.unnest(), kinds)}
    return all(column.name in computed or column.name in source.nulled for column in columns(filter_term))


def _mirrored(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts, inserts: list[Clause]
) -> Iterator[Col]:
    """The columns of the source from which INSERT fills those that a one-sided filter restricts."""
    for conjunct in one_sided_filters(statement, layout, scope, source):
        if conjunct.expression is None:
            continue
        for clause in inserts:
            rows = inserted_rows(clause, statement, layout, scope, source)
            for column in columns(condition(conjunct.expression, on_terms(scope))):
                value = rows.value(column.name)
                yield from columns(value) if value is not None else ()


def _own_conditions(clause: Clause, scope: Scope) -> tuple[Term, ...]:
    if clause.condition is None:
        return ()
    if clause.condition.expression is None:
        return (Call("opaque", ()),)
    return conjuncts(condition(clause.condition.expression, source_terms(scope)))
