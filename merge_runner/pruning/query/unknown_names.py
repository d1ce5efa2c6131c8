"""Names of columns in a source query that no relation of their SELECT has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.pruning.predicate.scope import name_parts
from merge_runner.pruning.query.relation import ReadSelect, Relation

NOT_COLUMNS = frozenset(
    [
        *("current_catalog", "current_database", "current_date", "current_schema", "current_time"),
        *("current_timestamp", "current_user", "grouping__id", "localtimestamp", "session_user", "user"),
    ]
)
"""Spark reads these names as functions where no column has them (LiteralFunctionResolution)."""
HIDDEN = frozenset(
    [
        *("_metadata", "_file", "_pos", "_partition", "_spec_id", "_deleted"),
        *("_row_id", "_last_updated_sequence_number"),
    ]
)
"""Columns that a table has without declaring them: of files (Spark), of rows (Iceberg)."""
UNITS = frozenset(
    [
        *("year", "quarter", "month", "week", "day", "dayofyear", "hour"),
        *("minute", "second", "millisecond", "microsecond"),
    ]
)
"""First arguments of functions such as `dateadd`, which sqlglot may read as columns."""


@dataclass(frozen=True)
class UnknownName:
    """A column that is named in `node` and that no relation has.

    `relations` are the names of those that it may have meant, `known` all their columns.
    """

    node: exp.Expr
    column: str
    relations: tuple[str, ...]
    known: tuple[str, ...]


def unknown_names(read: ReadSelect, *, variables: bool = False) -> Iterator[UnknownName]:
    """Yield the names in a SELECT that its relations are known not to have, in the order of the text.

    A name is passed over where the columns of a relation that it may belong to are not all known, inside a nested query
    (which sees its names and those of the queries around it) and inside a lambda. `variables`: an unqualified name may
    also be a session variable.
    """
    if not read.relations:
        return
    aliases = {name.casefold() for item in read.select.expressions for name in _aliases(item)}
    for node in _names(read.select):
        parts = name_parts(node)
        if not parts:
            continue
        owners, column = _owners(read.relations, parts)
        if not owners:
            if variables or len(parts) > 1 or _is_no_column(node, parts[0]) or parts[0].casefold() in aliases:
                continue
            owners = read.relations
        if column.casefold() in HIDDEN or any(_may_have(owner, column) for owner in owners):
            continue
        names = tuple(".".join(owner.names[0]) for owner in owners if owner.names)
        known = tuple(dict.fromkeys(found.name for owner in owners for found in owner.facts.known if found.name))
        yield UnknownName(node, column, names if len(names) == len(owners) else (), known)


def _owners(relations: Sequence[Relation], parts: tuple[str, ...]) -> tuple[Sequence[Relation], str]:
    """The relations that the first parts of a name mean, and the column of them; none for an unqualified name."""
    folded = tuple(part.casefold() for part in parts)
    if any(relation.facts.column(parts[0]) is not None for relation in relations):
        return (), parts[0]  # a struct that is called like a relation, perhaps
    for relation in relations:
        for name in relation.names:
            if len(folded) > len(name) and folded[: len(name)] == name:
                return [each for each in relations if name in each.names], parts[len(name)]
    return (), parts[0]


def _may_have(relation: Relation, column: str) -> bool:
    return relation.versioned or relation.facts.has_column(column) is not False


def _is_no_column(node: exp.Expr, name: str) -> bool:
    folded = name.casefold()
    return folded in NOT_COLUMNS or (folded in UNITS and isinstance(node.parent, exp.Func))


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
