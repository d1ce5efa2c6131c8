"""The rows that a SELECT leaves out because a table has them: anti joins, NOT EXISTS, NOT IN, `old.k is null`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.term import Call, Col, Term, conjuncts
from merge_runner.pruning.predicate.scope import name_parts
from merge_runner.pruning.query.relation import Relation, whole_table
from merge_runner.pruning.query.source import Absence

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
        for known in relation.facts.absent if relation.visible and not relation.nullable else ():
            pairs = ((name, relation.column(own.name), null_safe) for name, own, null_safe in known.pairs)
            yield Absence(known.table, tuple(pairs))
    for join in rows.compared:
        found = _absence(join.relation, join.on)
        if found is not None and (join.anti or _found_nothing(join.relation, found, rows.terms)):
            yield found
    where = select.args.get("where")
    parts = () if where is None else where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
    for part in parts:
        inner = part.unnest()
        found = _of_subquery(inner.this.unnest(), rows) if isinstance(inner, exp.Not) else None
        if found is not None:
            yield found


def _absence(relation: Relation, on: Sequence[Term]) -> Absence | None:
    """What is absent where no row of the relation satisfies the conditions.

    None where it is not a table as a whole, or where one is no equality of its column with that of another relation.
    """
    pairs = []
    for item in on:
        args = item.args if isinstance(item, Call) and item.name in ("=", "<=>") else ()
        sides = {each.relation == relation.number: each for each in args if isinstance(each, Col) and not each.path}
        if len(sides) != 2 or sides[False].relation < 0:
            return None
        pairs.append((sides[True].name, sides[False], item == Call("<=>", args)))
    return Absence(relation.table, tuple(pairs)) if relation.table and pairs else None


def _found_nothing(relation: Relation, found: Absence, terms: Sequence[Term]) -> bool:
    """Whether a condition asks for NULL in a column that has a value in each row which an outer join finds."""
    filled = {name for name, _, null_safe in found.pairs if not null_safe}
    filled |= {column.name.casefold() for column in relation.facts.known if column.nullable is False}
    return any(Call("isnull", (relation.column(name),)) in terms for name in filled)


def _of_subquery(node: exp.Expr, rows: JoinedRows) -> Absence | None:
    """What is absent by NOT before EXISTS or IN, where its subquery reads a table and has no more than WHERE."""
    query = node.this if isinstance(node, exp.Exists) else node.args.get("query") if isinstance(node, exp.In) else None
    select = query.unnest() if query is not None else None
    if not isinstance(select, exp.Select) or {key for key, value in select.args.items() if value} - _PLAIN:
        return None
    read = select.args["from_"].this if select.args.get("from_") is not None else None
    table = whole_table(read) if isinstance(read, exp.Table) else ()
    if read is None or not table:
        return None
    names = ((read.alias.casefold(),),) if read.alias else tuple(table[start:] for start in range(len(table)))
    inner = Relation(_INNER, names, rows.queries.table(tuple(part.name for part in read.parts)), table=table)

    def resolve(column: exp.Expr) -> Term | None:
        """Names mean columns of the subquery's table first; one without a qualifier, where it may have it."""
        folded = tuple(part.casefold() for part in name_parts(column) or ())
        for name in names:
            if len(folded) > len(name) and folded[: len(name)] == name:
                return Col(_INNER, folded[len(name)], folded[len(name) + 1 :])
        is_own = len(folded) == 1 and inner.facts.has_column(folded[0]) is not False
        return Col(_INNER, folded[0]) if is_own else rows.resolve(column)

    where = select.args.get("where")
    on = list(conjuncts(condition(where.this, resolve))) if where is not None else []
    if isinstance(node, exp.In):
        compared, given = term(node.this, rows.resolve), term(select.expressions[0].unalias(), resolve)
        if compared is None or given is None or len(select.expressions) != 1:
            return None
        on.append(Call("=", (given, compared)))
    return _absence(inner, on)
