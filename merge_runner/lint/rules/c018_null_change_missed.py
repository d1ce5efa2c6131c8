"""A change from or to NULL is not written.

## What it does
It looks at `t.a <> s.a` in the condition of an UPDATE that sets `a` to `s.a`, as it is written to update rows that have
changed, a hash of them for example. It reports the comparison where the source's column is known to hold NULL (by its
declaration, or by the query in USING: an outer join, a CASE without ELSE), the target's column takes it, and no other
condition of the matched clauses is about the two columns.

## Why it matters
`NULL <> 'x'` is not true, and neither is `'x' <> NULL`. A value that becomes NULL stays as it was in the table, and a
NULL in the table is never replaced.

## Bad
```yaml
source: {region: string}
```
```sql
merge into {{ this }} as t
using (
    select c.id, c.dt, r.region
    from {{ source('raw', 's') }} as c
    left join {{ source('raw', 's') }} as r on r.id = c.id
) as s
    on t.id = s.id and t.dt = s.dt
when matched and t.region <> s.region then update set region = s.region
```

## Good
```sql
merge into {{ this }} as t
using (
    select c.id, c.dt, r.region
    from {{ source('raw', 's') }} as c
    left join {{ source('raw', 's') }} as r on r.id = c.id
) as s
    on t.id = s.id and t.dt = s.dt
when matched and not (t.region <=> s.region) then update set region = s.region
```

## When to ignore it
Where NULL in the source means that the value is not known, and the old one is to be kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Edit, Fix
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.null_changes import missed_changes

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit on each comparison that misses a change from or to NULL."""
    for change in missed_changes(merge.statement, merge.layout, merge.scope, merge.source):
        safe = f"not ({change.left} <=> {change.right})"
        place = merge.written_at(change.span)
        yield Hit(
            change.span,
            f"{change.left} <> {change.right} is not true where one of the two is NULL: a change of {change.column} "
            "from or to NULL is not written",
            f"write {safe}",
            fix=Fix(f"write {safe}", (Edit(place, safe),)) if place is not None else None,
        )
