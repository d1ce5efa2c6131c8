"""Columns are filled from each other's columns of the source.

## What it does
It reports a clause that writes columns of the source into columns of each other's names: `set a = s.b, b = s.a`, or
`insert (a, b, c) values (s.b, s.c, s.a)`. Each has to be a bare column of the source, and the names have to form a
circle: `set a = s.b` alone is a renaming, and fine.

## Why it matters
A list of columns and a list of values that are not in the same order look alike, and Spark compares types alone, if it
does. Rows get each other's values, and no error is raised.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set name = s.region, region = s.name
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set name = s.name, region = s.region
```

## When to ignore it
Where the source really has the columns the other way round, as `from` and `to` of a return trip. Renaming them in USING
says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.crossed_columns import crossed_columns

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "warning"
_SHOWN = 4
"""Columns that a message names."""


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each circle of columns, at the first of them."""
    for circle in crossed_columns(merge.statement, merge.scope):
        words = "INSERT" if circle.clause.action == "insert" else "SET"
        writes = [f"{item.value.text} into {item.column[-1]}" for item in circle.assignments]
        more = f" and {len(writes) - _SHOWN} more" if len(writes) > _SHOWN else ""
        yield Hit(
            circle.assignments[0].span,
            f"{words} writes {', '.join(writes[:_SHOWN])}{more}: each column gets the value of another one",
            "bring names and values into the same order, or rename the columns in USING",
        )
