"""The rows that a SELECT leaves out because a table has them: anti joins, NOT EXISTS, NOT IN, `old.k is null`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.term import Call, Col, Term, conjuncts
from merge_runner.pruning.query.relation import Relation, Scope, column_of, whole_table
from merge_runner.pruning.query.source import Absence
from merge_runner.sql import scope as sql
from merge_runner.sql.from_clause import from_items
from merge_runner.sql.names import name_parts, qualifiers

if TYPE_CHECKING:
    from merge_runner.pruning.query.joined_rows import JoinedRows

_INNER = -2_000
"""Number of the relation that a subquery reads."""

_PLAIN = {"expressions", "from_", "where", "distinct"}
"""Parts of a subquery that leave all rows of its table as they are, but for what WHERE asks."""


def absences(select: exp.Select, rows: JoinedRows) -> Iterator[Absence]:
    """What is absent for the rows that FROM and WHERE of a SELECT give, in terms of their columns."""
    if rows.filled:
        return
    for relation in rows.relations:
        for absence in relation.rows.absent if relation.is_visible and not relation.is_nullable else ():
            pairs = ((name, column_of(relation, own.name), null_safe) for name, own, null_safe in absence.pairs)
            yield Absence(absence.table, tuple(pairs))
    for join in rows.compared:
        joined = _absence(join.relation, join.table, join.on)
        if joined is not None and (join.anti or _finds_nothing(join.relation, joined, rows.terms)):
            yield joined
    where = select.args.get("where")
    parts = () if where is None else where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
    for part in parts:
        inner = part.unnest()
        excluded = _of_subquery(inner.this.unnest(), rows) if isinstance(inner, exp.Not) else None
        if excluded is not None:
            yield excluded


def _absence(relation: Relation, table: tuple[str, ...], on: Sequence[Term]) -> Absence | None:
    """What is absent where no row of the relation satisfies the conditions.

    None where it is not a table as a whole, or where one is no equality of its column with that of another relation.
    """
    pairs = []
    for item in on:
        args = item.args if isinstance(item, Call) and item.name in ("=", "<=>") else ()
        sides = {side.relation == relation.number: side for side in args if isinstance(side, Col) and not side.path}
        if len(sides) != 2 or sides[False].relation < 0:
            return None
        pairs.append((sides[True].name, sides[False], item == Call("<=>", args)))
    return Absence(table, tuple(pairs)) if table and pairs else None


def _finds_nothing(relation: Relation, absence: Absence, terms: Sequence[Term]) -> bool:
    """Whether a condition asks for NULL in a column that has a value in each row which an outer join finds."""
    filled = {name for name, _, null_safe in absence.pairs if not null_safe}
    filled |= {column.name.casefold() for column in relation.rows.known_columns if column.nullable is False}
    return any(Call("isnull", (column_of(relation, name),)) in terms for name in filled)


def _of_subquery(node: exp.Expr, rows: JoinedRows) -> Absence | None:
    """What is absent by NOT before EXISTS or IN, where its subquery reads a table and has no more than WHERE."""
    query = node.this if isinstance(node, exp.Exists) else node.args.get("query") if isinstance(node, exp.In) else None
    select = query.unnest() if query is not None else None
    if not isinstance(select, exp.Select) or {key for key, value in select.args.items() if value} - _PLAIN:
        return None
    items = list(from_items(select))
    table = whole_table(items[0], rows.queries) if len(items) == 1 else ()
    if not table:
        return None
    inner = Relation(qualifiers(items[0].alias, items[0].parts), rows.queries.table(items[0].parts), _INNER)
    scope: Scope = sql.Scope([inner], rows.scope)

    def resolve(column: exp.Expr) -> Term | None:
        """Names mean columns of the subquery's table first; one without a qualifier, where it may have it."""
        parts = name_parts(column) or ("",)
        resolution = scope.resolve(parts)
        if isinstance(resolution, sql.Possible) and len(parts) == 1:
            resolution = resolution.columns[0]
        return rows.term(resolution)

    where = select.args.get("where")
    on = list(conjuncts(condition(where.this, resolve))) if where is not None else []
    if isinstance(node, exp.In):
        compared, value = term(node.this, rows.resolve), term(select.expressions[0].unalias(), resolve)
        if compared is None or value is None or len(select.expressions) != 1:
            return None
        on.append(Call("=", (value, compared)))
    return _absence(inner, table, on)
