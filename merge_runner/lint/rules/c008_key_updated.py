"""SET assigns a column that ON joins by.

## What it does

Reports an UPDATE that writes another value into a column of the target that ON equates with the source. Writing the
very expression that it is equal to changes nothing and is fine. `SET *` is not looked at: the source's column of that
name usually holds the key. It takes the place of K002 for the same assignment.

## Why it matters

The next run looks for the row under its old key and does not find it: it is inserted again, or no longer updated. A row
may also get the key of another one.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set id = s.id + 1, name = s.name
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set name = s.name
```

## When to ignore it

Where rows are meant to get a new key, and the source knows them by the new one from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.pruning.predicate.join_keys import join_keys
from merge_runner.pruning.predicate.tautology import assigned, overlap
from merge_runner.sql.names import fold

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.merge.statement import Clause
    from merge_runner.pruning.predicate.join_keys import JoinKey

SEVERITY: Severity = "warning"
_HINT = "leave the key out of SET"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Assignments of join keys."""
    updates = [clause for clause in merge.statement.clauses if clause.action == "update" and not clause.star]
    if not updates:
        return
    keys = join_keys(merge.statement.on, merge.scope)
    if not keys:
        return
    for clause in updates:
        yield from _key_assignments(merge, clause, keys)


def _key_assignments(merge: LintedMerge, clause: Clause, keys: Sequence[JoinKey]) -> Iterator[Hit]:
    by_column: dict[str, list[JoinKey]] = {}
    for key in keys:
        by_column.setdefault(_path(key)[0], []).append(key)
    for assignment in clause.assignments:
        path = assigned(assignment, merge.scope)
        keys_set = [key for key in by_column.get(path[0], ()) if overlap(path, _path(key))]
        value = assignment.value.expression
        if not keys_set or value is None or any(_is_harmless(merge, clause, key, path, value) for key in keys_set):
            continue
        message = f"SET assigns {'.'.join(path)}, and ON joins by it"
        yield Hit(assignment.span, message, _HINT, replaces_here=("K002",))


def _is_harmless(merge: LintedMerge, clause: Clause, key: JoinKey, path: tuple[str, ...], value: exp.Expr) -> bool:
    """Whether the value is what the key holds already, or may be, judged by the text."""
    if path != _path(key):
        return True  # a struct as a whole, or a field of the key: what it holds is not compared
    value = _bare(value)
    reference = merge.scope.reference(value)
    if reference is not None and reference.side == "target":
        return _same(reference.path, key.column.path)
    if merge.scope.side(value) == "unknown":
        return True
    if clause.kind != "matched":
        return False
    source = _bare(key.source)
    source_reference = merge.scope.reference(source)
    if reference is not None and source_reference is not None:
        return _same(reference.path, source_reference.path)
    return value == source


def _path(key: JoinKey) -> tuple[str, ...]:
    return fold(key.column.path)


def _same(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    return [part.casefold() for part in left] == [part.casefold() for part in right]


def _bare(tree: exp.Expr) -> exp.Expr:
    """The expression without parentheses and casts: of what type a key is written is another question."""
    while isinstance(tree, exp.Paren | exp.Cast):
        tree = tree.this
    return tree
