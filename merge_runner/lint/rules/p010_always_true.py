"""A filter excludes nothing.

## What it does
Reports a condition of ON that is true for every row: `1 = 1`, `t.dt is null or t.dt is not null`,
`t.id = t.id`, `t.id is not null` where `id` cannot be NULL.

Where ON holds nothing else, it takes the place of P001 and K001, and C004 takes its place.

## Why it matters
It looks like a filter, and satisfies checks that ask for one, but every file is read. Often it is a filter that lost
its value: `t.dt = t.dt` for `t.dt = s.dt`.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and (t.dt is null or t.dt is not null)
when matched then delete
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = date'2024-01-01'
when matched then delete
```

## When to ignore it
Where a template writes `1 = 1` in front of optional conditions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"
_SHOWN = 60
"""Characters of a condition that the message repeats."""


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Conjuncts that are always true."""
    alone = all(condition.cause == "always-true" for condition in merge.judgement.on)
    for condition, conjunct in zip(merge.judgement.on, merge.statement.on, strict=True):
        if condition.cause == "always-true" and not merge.names_window(conjunct.expression):
            text = " ".join(condition.text.split())
            yield Hit(
                condition.span,
                f"{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'} is true for every row: it excludes nothing",
                "write the filter that is meant, or take it out",
                replaces=("P001", "K001") if alone else (),
            )
