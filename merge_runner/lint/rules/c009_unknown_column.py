"""A column that the declared schema does not have.

## What it does
It looks for columns of the target that its declared or recorded columns do not hold, for columns of the source that its
query does not give, for columns in the config keys `partition_by`, `cluster_by` and `unique_key`, for columns inside
the query of USING and its CTEs that the tables read there do not have, and for `UPDATE SET *` and `INSERT *` with a
source that lacks a column of the target. It reports only where all columns of the table or query are known: those of a
model, a seed, a recorded table; a source may have more columns than its YAML lists. The table of a dbt model has those
of its query, unless its config lets it keep others. A column that is named in several places is one finding, at the
first. A name without a qualifier that both sides have counts too: it is unknown which of the two is meant; with
`spark.sql.caseSensitive: true` in the conf of the model or profile, those that differ in case are two names. With
`MERGE WITH SCHEMA EVOLUTION`, new columns in an INSERT list and unqualified ones in SET are fine, and `*` takes what
the source has.

## Why it matters
Spark refuses the statement (`UNRESOLVED_COLUMN`, `AMBIGUOUS_REFERENCE`), but only when it runs: on the first night
after the change.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set amuont = s.amount
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
```

## When to ignore it
Where the YAML of a table is older than the table; it is better to bring it up to date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.errors import did_you_mean, nearest
from merge_runner.lint.rule import Hit
from merge_runner.merge.name_places import names_span
from merge_runner.pruning.layout.layout import TableColumn, partition_field
from merge_runner.pruning.predicate.scope import ColumnRef, Scope, is_qualified_variable
from merge_runner.sql.names import name_parts
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.merge.statement import Assignment, Clause, Expr
    from merge_runner.pruning.query.unknown_names import UnknownName
    from merge_runner.pruning.verdict import Side

SEVERITY: Severity = "error"
_ONLY: dict[str, Side] = {"not_matched": "source", "not_matched_by_source": "target"}
"""The side that alone has a row in a clause."""
_NAMING_COLUMNS = ("partition_by", "cluster_by", "unique_key")
"""Config keys that hold names of columns of the target."""


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """One hit for each column that does not exist, at the first place where it is named, or where `*` lacks some."""
    first: dict[str, Hit] = {}
    count: dict[str, int] = {}
    for hit in _everywhere(merge):
        first.setdefault(hit.message, hit)
        count[hit.message] = count.get(hit.message, 0) + 1
    for message, hit in first.items():
        yield hit if count[message] == 1 else replace(hit, message=f"{message} ({count[message]} places)")


def _everywhere(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each place."""
    yield from _config(merge)
    unknown: dict[Span, UnknownName] = {}
    for expr, name in merge.unknown_in_using:
        unknown.setdefault(_span(expr, name.node), name)
    for span, name in unknown.items():
        yield Hit(span, _not_in_source(name), did_you_mean(name.column, name.candidates))
    merge = _with_columns(
        merge, {suggestion for name in unknown.values() if (suggestion := nearest(name.column, name.candidates))}
    )
    for conjunct in merge.statement.on:
        yield from _expression(merge, conjunct, None)
    yield from _stars(merge)
    for clause in merge.statement.clauses:
        inserts, only = clause.kind == "not_matched", _ONLY.get(clause.kind)
        if clause.condition is not None:
            yield from _expression(merge, clause.condition, only)
        for assignment in clause.assignments:
            yield from _assigned_column(merge, assignment, inserts=inserts)
            if assignment.value.text.strip().upper() != "DEFAULT":
                yield from _expression(merge, assignment.value, only)


def _config(merge: LintedMerge) -> Iterator[Hit]:
    """Hits in the config of the model: layout and key name columns of the target."""
    node = merge.file.node
    if node is None:
        return
    target_columns = [column.name for column in merge.layout.columns or ()]
    for key in _NAMING_COLUMNS:
        for text in getattr(node.config, key):
            name = partition_field(text).column
            if merge.layout.has_column(name) is False and merge.layout.has_column(name.split(".")[0]) is False:
                message = f'{key} names the column "{name}", which the target does not have'
                yield Hit(merge.file.config_place(key), message, did_you_mean(name, target_columns), subject=name)


def _not_in_source(name: UnknownName) -> str:
    if len(name.relations) == 1:
        return f'{name.relations[0]} has no column "{name.column}"'
    if name.relations:
        return f'none of {", ".join(name.relations)} has a column "{name.column}"'
    return f'there is no column "{name.column}" in what FROM reads'


def _with_columns(merge: LintedMerge, names: Collection[str]) -> LintedMerge:
    """The MERGE as if its source had these columns too: a mistake in its query is reported there alone."""
    new_names = [name for name in sorted(names) if merge.source.has_column(name) is False]
    if not new_names or merge.source.columns is None:
        return merge
    source = replace(merge.source, columns=(*merge.source.columns, *(TableColumn(name) for name in new_names)))
    return replace(
        merge,
        source=source,
        scope=Scope.of(merge.statement, merge.layout, source.columns, source.some, merge.scope.variables),
    )


def _expression(merge: LintedMerge, expr: Expr, only: Side | None) -> Iterator[Hit]:
    """Hits in an expression; `only` is the side that an unqualified name belongs to, None where it may be either."""

    tree = expr.expression
    names: Iterable[exp.Expr] = ()
    if type(tree) is exp.Column:
        names = (tree,)
    elif tree is not None and tree.find(exp.Query, exp.Lambda) is None:
        names = tree.find_all(exp.Column, exp.Dot)  # a subquery and a lambda have names of their own
    reported: set[tuple[str, ...]] = set()
    for node in names:
        reference = merge.scope.reference(node)
        if reference is None or isinstance(node.parent, exp.Dot) or _is_reported(merge, name_parts(node) or ()):
            continue
        if only is not None and reference.path == name_parts(node):
            reference = ColumnRef(only, reference.path)
        wrong = _fault_of(merge, reference)
        name = (reference.side, reference.column.casefold())
        if wrong is not None and name not in reported:
            reported.add(name)
            yield Hit(_span(expr, node), *wrong)


def _fault_of(merge: LintedMerge, reference: ColumnRef) -> tuple[str, str | None] | None:
    """What is wrong with the name of a column, and what to do; None where nothing is, or that is not known."""
    column, layout, source = reference.column, merge.layout, merge.source
    if reference.side == "target":
        if layout.has_column(column) is False:
            return f'the target has no column "{column}"', _hint_for(merge, column)
    elif reference.side == "source":
        if source.has_column(column) is False:
            return f'the source has no column "{column}"', did_you_mean(column, _sources(merge))
    elif merge.declares_variables or is_qualified_variable(reference.path):
        return None  # it may be a session variable
    elif source.has_column(column) is True and layout.has_column(column) is True:
        if merge.file.may_be_case_sensitive and not _is_spelt_alike(merge, column):
            return None
        names = (merge.statement.target.qualifier, merge.statement.source.qualifier)
        qualified = " or ".join(f"{name}.{column}" for name in names if name)
        return f'both target and source have a column "{column}"', f"write {qualified}" if qualified else None
    elif source.has_column(column) is False and layout.has_column(column) is False:
        return f'neither target nor source has a column "{column}"', did_you_mean(
            column, {*(target_column.name for target_column in layout.columns or ()), *_sources(merge)}
        )
    return None


def _is_spelt_alike(merge: LintedMerge, column: str) -> bool:
    """Whether target and source both have the column in this very case."""
    return all(
        column in {column.name for column in side} for side in (merge.layout.columns or (), merge.source.known_columns)
    )


def _sources(merge: LintedMerge) -> list[str]:
    """The names of the columns of the source that are known."""
    return [source_column.name for source_column in merge.source.known_columns if source_column.name]


def _hint_for(merge: LintedMerge, column: str) -> str | None:
    """What to do about a column that the target does not have."""
    target_columns = [column.name for column in merge.layout.columns or ()]
    inserted = [
        {assignment.column[-1].casefold() for assignment in clause.assignments}
        for clause in merge.statement.clauses
        if clause.action == "insert"
    ]
    declared_columns = merge.file.node.columns if merge.file.node is not None else target_columns
    if not declared_columns and {name.casefold() for name in target_columns} in inserted:
        return "declare the model's columns in YAML: without them the table is created with those of INSERT"
    return did_you_mean(column, target_columns)


def _is_reported(merge: LintedMerge, parts: tuple[str, ...]) -> bool:
    """Whether C012 reports the first part of a name: no column is looked for there."""
    return len(parts) > 1 and any(parts[0].casefold() in qualifier.words for qualifier in merge.unknown_qualifiers)


def _assigned_column(merge: LintedMerge, assignment: Assignment, *, inserts: bool) -> Iterator[Hit]:
    """The column that SET or INSERT writes."""
    parts = assignment.column
    reference = merge.scope.resolve(parts)
    qualified = reference.side == "target" and len(reference.path) < len(parts)
    column = reference.path[0] if qualified else parts[0]
    if _is_reported(merge, parts) or merge.layout.has_column(column) is not False:
        return
    if merge.statement.schema_evolution and not qualified:
        return
    span = assignment.span if inserts else merge.statement.set_column(assignment)
    yield Hit(span, f'the target has no column "{column}"', _hint_for(merge, column))


def _stars(merge: LintedMerge) -> Iterator[Hit]:
    """One hit for the columns that clauses with `*` lack, at the first of them."""
    layout, source = merge.layout, merge.source
    if merge.statement.schema_evolution or not layout.complete or not source.names_known:
        return
    lacking: dict[str, list[Clause]] = {}
    for clause in merge.statement.clauses:
        missing = [
            column.name
            for column in layout.columns or ()
            if source.has_column(column.name) is False and (clause.action == "insert" or column.generated is None)
        ]
        if clause.star and missing:
            lacking.setdefault(", ".join(missing), []).append(clause)
    for names, clauses in lacking.items():
        words = ["INSERT *" if clause.action == "insert" else "UPDATE SET *" for clause in clauses]
        stars = " and ".join(dict.fromkeys(words))
        needs = f"{stars} need" if " and " in stars else f"{stars} needs"
        yield Hit(
            Span(clauses[0].span.end - 1, clauses[0].span.end),
            f"{needs} every column of the target, and the source lacks {names}",
            "select them in USING, list the columns, or write MERGE WITH SCHEMA EVOLUTION",
        )


def _span(expr: Expr, node: exp.Expr) -> Span:
    return names_span(node, expr.span.start) or expr.span
