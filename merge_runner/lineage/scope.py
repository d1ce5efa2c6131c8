"""The values of names: what a column is made of, once it is known which column a name means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from merge_runner.lineage.rows import Rest, Rows, without
from merge_runner.lineage.value import NOTHING, Value, union, unknown
from merge_runner.sql import scope as sql
from merge_runner.sql.names import HIDDEN, NOT_COLUMNS
from merge_runner.text import Span

Relation: TypeAlias = sql.Relation[Rows]
Scope: TypeAlias = sql.Scope[Rows, Value]
Resolution: TypeAlias = sql.Resolution[Rows, Value]


def name_value(scope: Scope, parts: tuple[str, ...], span: Span | None) -> Value:
    """The value of the column that a name means; `span` is its place."""
    return resolution_value(scope.resolve(parts), span)


def resolution_value(resolution: Resolution, span: Span | None) -> Value:
    """The value of what a name means."""
    match resolution:
        case sql.ColumnOf(relation, path):
            return _column_value(relation, path, span)
        case sql.MergedColumn(sides, path):
            values = [resolution_value(side, span) for side in sides]
            return (union(values).direct("transformation") if len(values) > 1 else values[0]).at(path[1:])
        case sql.ItemOf(item, fields):
            return item.at(fields)
        case sql.Ambiguous(columns):
            names = " and ".join(dict.fromkeys(column.relation.display_name for column in columns))
            return unknown(f'"{columns[0].path[0]}" is a column of {names}', span)
        case sql.Possible():
            return _possible_value(resolution, span)
        case sql.NoColumn(relation, parts):
            return _no_value(relation, parts, span)
    return NOTHING  # the parameter of a lambda


def star_rows(scope: Scope, qualifier: Sequence[str], span: Span | None) -> Rows:
    """The columns of `*` or `a.*` in their order."""
    star = scope.star(qualifier)
    if star is None:
        reason = f'the fields of "{".".join(qualifier)}" are not known'  # a struct, or a relation of the query around
        return Rows(rest=(Rest(None, more=unknown(reason, span)),))
    columns = [(name, resolution_value(column, span)) for name, column in star.merged.items()]
    rest: list[Rest] = []
    for relation in star.relations:
        rows = without(relation.rows, star.left_out)
        rest += [replace(part, place=part.place + len(columns)) for part in rows.rest]
        columns += rows.columns
    return Rows(tuple(columns), tuple(rest))


def _column_value(relation: Relation, path: tuple[str, ...], span: Span | None) -> Value:
    values = relation.rows.having(path[0])
    rests = relation.rows.perhaps(path[0])
    if len(values) == 1:
        return values[0].at(path[1:])
    if values:
        return unknown(f'{relation.display_name} has several columns "{path[0]}"', span)
    if len(rests) == 1:
        return rests[0].column(path[0])
    if rests:
        return unknown(f'"{path[0]}" may be a column of {_tables(rests)}: declare their columns', span)
    return unknown(f'{relation.display_name} may have had a column "{path[0]}" in the version that is read', span)


def _possible_value(resolution: sql.Possible[Rows, Value], span: Span | None) -> Value:
    name = resolution.columns[0].path[0]
    rests = [rest for column in resolution.columns for rest in column.relation.rows.perhaps(name)]
    value = resolution_value(resolution.columns[0], span)
    if len(rests) > 1:
        return unknown(f'"{name}" may be a column of {_tables(rests)}: declare their columns', span)
    if resolution.item is not None and not _is_made_of(resolution.item, value):
        return unknown(f'"{name}" may be a column of {_tables(rests)}, or the alias before it', span)
    if resolution.outer:
        return unknown(f'"{name}" may be a column of {_tables(rests)}, or of the query around it', span)
    return value


def _no_value(relation: Relation | None, parts: tuple[str, ...], span: Span | None) -> Value:
    name = parts[0]
    if relation is not None:
        is_hidden = name.casefold() in HIDDEN
        return NOTHING if is_hidden else unknown(f'{relation.display_name} has no column "{name}"', span)
    if len(parts) == 1 and name.casefold() in NOT_COLUMNS:
        return NOTHING
    if len(parts) > 1:
        return unknown(f'"{name}" is neither a relation nor a column here', span)
    return unknown(f'no relation here has a column "{name}"', span)


def _is_made_of(item: Value, value: Value) -> bool:
    """Whether an item is made of the column of its own name, so that FROM is certain to have the column."""
    columns = {(column_input.relation, column_input.column.casefold()) for column_input in item.inputs}
    return bool(value.inputs) and all(
        (column_input.relation, column_input.column.casefold()) in columns for column_input in value.inputs
    )


def _tables(rests: Sequence[Rest]) -> str:
    names = dict.fromkeys(rest.table.name if rest.table else "a query that cannot be read" for rest in rests)
    return " or ".join(names)
