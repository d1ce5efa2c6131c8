"""A target filter is in a WHEN condition.

## What it does
Reports a condition of WHEN that restricts the target by a constant and that could skip files if it were in ON. It is
silent where a condition of ON prunes, and next to a BY SOURCE clause, where none can (P006).

## Why it matters
Conditions of WHEN are asked when the files have been read. Only Delta looks at them beforehand, and only where all
clauses are WHEN MATCHED and each of them restricts the target; an INSERT or a BY SOURCE clause ends that.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched and t.dt >= date'2024-01-01' then update set amount = s.amount
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using (select * from {{ source('raw', 's') }} where dt >= date'2024-01-01') as s
   on t.id = s.id and t.dt = s.dt and t.dt >= date'2024-01-01'
when matched then update set amount = s.amount
when not matched then insert *
```

## When to ignore it
Where the condition is there for what it does and not for speed. Moving it to ON changes what the MERGE does where
another clause does not have it: source rows that match a row outside of it count as not matched then, and an INSERT
writes them again (C001).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Conditions of WHEN that could prune in ON."""
    if merge.judgement.verdict == "static" or merge.scans_by_source:
        return
    for clause, conditions in zip(merge.statement.clauses, merge.judgement.when, strict=True):
        for condition in conditions:
            if condition.cause == "in-when" and clause.kind == "matched":
                names = condition.named
                yield Hit(
                    condition.span, f"the filter on {names} is in WHEN, where it skips no file", _hint(merge, names)
                )


def _hint(merge: LintedMerge, names: str) -> str:
    hint = f"a filter on {names} can skip files where it is in ON"
    if merge.inserts:
        return f"{hint}; put the same filter on the source in USING then, or rows outside of it are inserted again"
    if len(merge.statement.clauses) > 1:
        return f"{hint}, if all clauses are to have it"
    return hint
