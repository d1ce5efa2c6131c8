"""A filter does not prune because its column is inside a function, cast or arithmetic.

## What it does
Reports a condition of ON that restricts the target by constants, but whose column is not bare: `year(t.ts) = 2024`,
`t.id + 1 = 101`, `cast(t.id as string) = '100'`, `t.name like '%x'`. What Spark takes off by itself is not reported:
`cast(t.ts as date) = …`, a cast to a wider number, `coalesce` on a column that cannot be NULL; nor is any function of
Delta's partition columns, which are evaluated on metadata. It is a warning where another filter or a bound prunes, or
may.

It takes the place of [P001](P001.md), with its severity, where the whole target is scanned.

## Why it matters
Files keep the smallest and largest value of a column, not of an expression over it.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and year(t.ts) = 2024
when matched then delete
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.ts >= timestamp'2024-01-01' and t.ts < timestamp'2025-01-01'
when matched then delete
```

## When to ignore it
Where the condition is there for what it does, and another one prunes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import scanned
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"


_INSTEAD = {
    "year": "compare {column} with the first moments of two years: {column} >= … and {column} < …",
    "month": "compare {column} with the first moments of two months: {column} >= … and {column} < …",
    "day": "compare {column} with the first moments of two days: {column} >= … and {column} < …",
    "date_format": "compare {column} itself: {column} >= … and {column} < …",
    "date_trunc": "compare {column} itself: {column} >= … and {column} < …",
    "trunc": "compare {column} itself: {column} >= … and {column} < …",
    "upper": "compare {column} as it is stored, with every spelling in an IN list",
    "lower": "compare {column} as it is stored, with every spelling in an IN list",
    "coalesce": "write {column} = … or {column} is null, or declare the column not null",
    "cast": "take the cast off {column}, and cast the constant to its type instead",
    "+": "take the arithmetic to the side of the constant",
    "-": "take the arithmetic to the side of the constant",
    "*": "take the arithmetic to the side of the constant",
    "/": "take the arithmetic to the side of the constant",
}
_BARE = "compare the bare {column} with a constant, or restrict another column next to it"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Filters on expressions over the target's columns."""
    if merge.scans_by_source:
        return
    for condition in merge.judgement.on:
        if condition.cause == "wrapped" and condition.filters:
            names = condition.named
            column = ".".join(filter(None, (merge.statement.target.qualifier, condition.columns[0])))
            yield Hit(
                condition.span,
                f"the filter on {names} does not prune: {condition.reason}{scanned(merge)}",
                _INSTEAD.get(condition.pattern, _BARE).format(column=column),
                severity=None if merge.judgement.verdict == "none" else "warning",
                replaces=("P001",),
            )
