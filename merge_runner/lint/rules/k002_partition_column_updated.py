"""SET moves rows between partitions.

## What it does
Reports an UPDATE that assigns a partition column (on Iceberg also one that a partition transform is made of) anything
but the value that ON has it equal to already: that of the source's column, or a constant that USING demands as well.
`SET *` assigns all columns. Where the column is a join key as well, C008 takes its place.

## Why it matters
The row is deleted from one partition and written to another. A merge that looks for it in its old partition, by a
filter or by bounds, will not find it there any more and inserts it again.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then update set dt = s.dt, amount = s.amount
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
```

## When to ignore it
Where rows are meant to move, and every merge into the table looks at all partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.merge.statement import Clause
from merge_runner.pruning.judge.insert_consistency import gives_what_on_demands
from merge_runner.pruning.predicate.join_keys import JoinKey, join_keys
from merge_runner.pruning.predicate.tautology import assigned
from merge_runner.pruning.verdict import listed

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Assignments to partition columns."""
    fields = {field.column.casefold(): field.column for field in merge.layout.partition_by or ()}
    updates = [clause for clause in merge.statement.clauses if clause.action == "update"]
    if not fields or not updates:
        return
    keys: dict[str, list[JoinKey]] = {}
    for key in join_keys(merge.statement.on, merge.scope):
        if len(key.column.path) == 1:
            keys.setdefault(key.column.column.casefold(), []).append(key)
    for clause in updates:
        if clause.star:
            moved = [name for folded, name in fields.items() if _star_moves(merge, clause, name, keys.get(folded, []))]
            if moved:
                hint = f"join ON by `{moved[0]}` too, or list the columns of SET"
                yield Hit(clause.span, _message(moved), hint, variant="star")
        for assignment in clause.assignments:
            path = assigned(assignment, merge.scope)
            name = fields.get(path[0]) if len(path) == 1 else None
            value = assignment.value.expression
            if name is not None and not (value is not None and _keeps(merge, clause, path[0], keys, value)):
                yield Hit(assignment.span, _message([name]), f"leave `{name}` out of SET")


def _message(names: list[str]) -> str:
    return (
        f"SET assigns the partition column{'s' if len(names) > 1 else ''} {listed(names)}: rows move between partitions"
    )


def _star_moves(merge: LintedMerge, clause: Clause, name: str, keys: list[JoinKey]) -> bool:
    """Whether `SET *` may write another value: it writes the source's column of the same name."""
    if merge.layout.is_generated(name) is True or merge.source.has_column(name) is False:
        return False
    if _is_fixed(merge, name) and merge.may_read_unknown_view:  # the view may have the same filter
        return False
    if gives_what_on_demands(clause, name, merge.statement, merge.scope, merge.source):
        return False
    source_references = [merge.scope.reference(key.source) for key in keys]
    return not any(reference is not None and _is(reference.path, name) for reference in source_references)


def _is_fixed(merge: LintedMerge, name: str) -> bool:
    """Whether ON asks that the target's column is equal to something that is in neither table."""
    for conjunct in merge.statement.on:
        tree = conjunct.expression.unnest() if conjunct.expression is not None else None
        if isinstance(tree, exp.EQ | exp.NullSafeEQ):
            for left, right in ((tree.this, tree.expression), (tree.expression, tree.this)):
                column = merge.scope.reference(left.unnest())
                mine = column is not None and column.side == "target" and _is(column.path, name)
                if mine and merge.scope.side(right) == "none":
                    return True
    return False


def _keeps(merge: LintedMerge, clause: Clause, column: str, keys: dict[str, list[JoinKey]], value: exp.Expr) -> bool:
    """Whether it is assigned its own value, or what ON has it equal to."""
    value = value.unnest()
    reference = merge.scope.reference(value)
    if reference is not None and reference.side == "target":
        return _is(reference.path, column)
    if clause.kind != "matched":
        return False
    if gives_what_on_demands(clause, column, merge.statement, merge.scope, merge.source):
        return True
    for key in keys.get(column, ()):
        key_reference = merge.scope.reference(key.source)
        if value == key.source or (reference is not None and reference == key_reference):
            return True
    return False


def _is(path: tuple[str, ...], name: str) -> bool:
    return len(path) == 1 and path[0].casefold() == name.casefold()
