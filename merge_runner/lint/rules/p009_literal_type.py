"""A literal of another type keeps the filter from pruning.

## What it does
Reports a condition of ON whose constant has a type for which Spark casts the column: a number against a string
column, a double against a decimal. Literals that Spark casts themselves are fine: `t.dt = '2024-01-01'`,
`t.id = '100'`, `t.amount >= 200`.

It takes the place of [P001](P001.md), with its severity, where the whole target is scanned.

## Why it matters
Files keep the smallest and largest value of a column, not of a cast of it.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.name = 100
when matched then delete
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.name = '100'
when matched then delete
```

## When to ignore it
Where the values in the column have spellings of one number that differ (`'100'`, `'0100'`), and all are meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import scanned
from merge_runner.lint.rule import Hit
from merge_runner.pruning.verdict import Condition

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Filters whose literal makes Spark cast the column."""
    if merge.scans_by_source:
        return
    for condition in merge.judgement.on:
        if condition.cause == "literal-type" and condition.filters:
            names = condition.named
            yield Hit(
                condition.span,
                f"the filter on {names} does not prune: {condition.reason}{scanned(merge)}",
                _hint(merge, condition),
                replaces=("P001",),
            )


def _hint(merge: LintedMerge, condition: Condition) -> str:
    column = merge.layout.column(condition.columns[0])
    data_type = column.data_type if column is not None else None
    if data_type is not None and data_type.is_text:
        return "write the constant in quotes, as the column holds it"
    if data_type is not None and not data_type.fields:
        return f"write the constant as {data_type}"
    return "write the constant in the column's own type"
