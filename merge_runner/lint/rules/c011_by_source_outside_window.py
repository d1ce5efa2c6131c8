"""ON restricts the target, and WHEN NOT MATCHED BY SOURCE changes the rows outside.

## What it does
It takes the conditions of ON that restrict the target by something else than the source, such as
`t.dt >= '2024-01-01'` or `t.is_current`, and asks of each WHEN NOT MATCHED BY SOURCE clause whether it takes rows that
do not satisfy them. A condition on the source counts where an equality of ON makes it one on the target. A clause whose
condition implies the filter is fine, and so is one that decides about the same columns in another way, such as
`t.dt < '2020-01-01'`, which deletes what is too old. `t.dt = s.dt` is no such filter.

It is a warning where the clause has a condition on other columns, which may leave rows outside alone.

## Why it matters
A row outside of the filter matches nothing, whatever the source holds. So it counts as NOT MATCHED BY SOURCE and is
updated or deleted: a MERGE of yesterday's rows deletes the whole history, a MERGE into the open rows of a history
writes the end of each closed one again.

## Bad
```sql
merge into {{ this }} as t
using (select * from {{ source('raw', 's') }} where dt >= date'2024-01-01') as s
    on t.id = s.id and t.dt >= date'2024-01-01'
when matched then update set amount = s.amount
when not matched by source then delete
```

## Good
```sql
{{ config(scan='full') }}

merge into {{ this }} as t
using (select * from {{ source('raw', 's') }} where dt >= date'2024-01-01') as s
    on t.id = s.id and t.dt >= date'2024-01-01'
when matched then update set amount = s.amount
when not matched by source and t.dt >= date'2024-01-01' then delete
```

## When to ignore it
Where the rows outside are really to be changed by each run. It is clearer to say so in the clause's condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.guard_fix import authors_words, guard
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.by_source_window import rows_outside

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each clause that changes rows outside of what ON restricts the target to."""
    if not merge.scans_by_source:
        return
    for outside in rows_outside(merge.statement, merge.layout, merge.scope, merge.source):
        filters = [" ".join(conjunct.text.split()) for conjunct in outside.filters]
        of_target = all(
            merge.scope.side(conjunct.expression) == "target" for conjunct in outside.filters if conjunct.expression
        )
        window = " and ".join(filters)
        whole = outside.reach == "all"
        rows = "every row" if whole else "rows"
        such = "" if whole else " that satisfy its condition"
        hint = f"write WHEN NOT MATCHED BY SOURCE AND {window}" if of_target else "put the same filter into the clause"
        yield Hit(
            outside.clause.span,
            f"this {outside.clause.action}s {rows} of the target outside of `{window}`{such}: ON never matches them",
            f"{hint}; the rows outside are left alone then",
            "warning" if outside.reach == "some" else None,
            guard(merge, outside.clause, [authors_words(merge, filter) for filter in outside.filters])
            if of_target
            else None,
            replaces_here=("C021",),
        )
