"""IN on a data column prunes only by the smallest and largest value of its list.

## What it does
Reports an IN list on a column of a Delta table that is no partition column.

## Why it matters
Delta compares a file's smallest and largest value with the smallest and largest value of the list:
`t.id in (1, 1000000)` keeps every file in between. Iceberg asks for each value, and so does Delta on partition
columns.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.id in (1, 1000000)
when matched then delete
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and (t.id between 1 and 10 or t.id between 999990 and 1000000)
when matched then delete
```

## When to ignore it
Where the values lie close together, or nothing more than the outer bounds is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "info"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """IN lists that prune by their outer values."""
    for condition in merge.judgement.on:
        if condition.cause == "loose":
            column = condition.columns[0]
            yield Hit(
                condition.span,
                f"IN on `{column}` prunes only by the smallest and largest value of the list",
                "where the values lie far apart, join equalities or ranges by OR: each of them prunes by itself",
            )
