"""Names of columns in a source query that no relation of their SELECT has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from merge_runner.pruning.query.relation import ReadSelect
from merge_runner.sql.names import HIDDEN, NOT_COLUMNS, UNITS, name_parts
from merge_runner.sql.scope import NoColumn


@dataclass(frozen=True)
class UnknownName:
    """A column that is named in `node` and that no relation has.

    `relations` are the names of those that it may have meant, `candidates` all their columns.
    """

    node: exp.Expr
    column: str
    relations: tuple[str, ...]
    candidates: tuple[str, ...]


def unknown_names(read: ReadSelect, *, variables: bool = False) -> Iterator[UnknownName]:
    """Yield the names in a SELECT that its relations are known not to have, in the order of the text.

    A name is passed over where the columns of a relation that it may belong to are not all known, inside a nested query
    (which sees its names and those of the queries around it) and inside a lambda. `variables`: an unqualified name may
    also be a session variable.
    """
    if not read.scope.relations:
        return
    aliases = {name.casefold() for item in read.select.expressions for name in _aliases(item)}
    # The condition of a semi join sees the relation that it joins.
    scope = replace(read.scope, relations=[replace(relation, is_visible=True) for relation in read.scope.relations])
    for node in _names(read.select):
        parts = name_parts(node) or ()
        resolution = scope.resolve(parts)
        if not isinstance(resolution, NoColumn):
            continue
        column = resolution.path[0]
        if resolution.relation is not None:
            owners = [relation for relation in scope.relations if set(relation.names) & set(resolution.relation.names)]
            if column.casefold() in HIDDEN or scope.has_field(parts) is None:
                continue
        else:
            owners = scope.relations
            if variables or len(parts) > 1 or _is_no_column(node, column) or column.casefold() in aliases:
                continue
        names = tuple(".".join(owner.names[0]) for owner in owners if owner.names)
        candidates = tuple(dict.fromkeys(name for owner in owners for name in owner.rows.column_names() if name))
        yield UnknownName(node, column, names if len(names) == len(owners) else (), candidates)


def _is_no_column(node: exp.Expr, name: str) -> bool:
    folded = name.casefold()
    return folded in NOT_COLUMNS | HIDDEN or (folded in UNITS and isinstance(node.parent, exp.Func))


def _aliases(item: exp.Expr) -> Iterable[str]:
    if isinstance(item, exp.Aliases):
        return [name.name for name in item.aliases]
    return [item.alias] if item.alias else []


def _names(node: exp.Expr) -> Iterator[exp.Expr]:
    """The names of columns below a node, without those of nested queries and lambdas."""
    todo = list(node.iter_expressions(reverse=True))  # no recursion: a condition may have thousands of parts
    while todo:
        child = todo.pop()
        if isinstance(child, exp.Query | exp.Values | exp.Lambda | exp.With) or (
            isinstance(child, exp.Lateral) and not child.args.get("view")
        ):
            continue
        if isinstance(child, exp.Column | exp.Dot) and name_parts(child):
            yield child
        else:
            todo += child.iter_expressions(reverse=True)
