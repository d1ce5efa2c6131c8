"""A condition on the source alone is in ON, and the rows that it leaves out are inserted.

## What it does
It looks at the conditions of ON that name columns of the source only, such as `s.op = 'U'`, and asks of each INSERT
clause whether every row that it inserts satisfies them. That is so where the clause's own condition says it, or the
query in USING. A clause that asks something else of the same column decides by itself. So does a query that marks the
rows which shall match nothing (a CASE, or a constant for each branch of a UNION), as histories do for their new
versions, and one that reads the target, as it may know which rows match. In a plain file, a source of which nothing is
known is not judged: it may be a view that filters.

## Why it matters
ON does not filter the source, it decides what matches. A row that does not satisfy the condition matches nothing, even
when its key is in the table. So it counts as NOT MATCHED and is inserted, again on every run.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt and s.name = 'U'
when matched then update set *
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using (select * from {{ source('raw', 's') }} where name = 'U') as s
    on t.id = s.id and t.dt = s.dt
when matched then update set *
when not matched then insert *
```

## When to ignore it
Where the other rows are meant to be appended, and never come twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.guard_fix import authors_words, guard
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.unmatched_rows import unrepeated_source_filters

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """One hit for each condition on the source in ON that inserted rows need not satisfy."""
    if not merge.inserts or merge.has_unknown_dbt_query or merge.may_read_unknown_view:
        return
    for conjunct, clause in unrepeated_source_filters(merge.statement, merge.layout, merge.scope, merge.source):
        if merge.reads_target:
            return
        text = " ".join(conjunct.text.split())
        yield Hit(
            conjunct.span,
            f"`{text}` in ON does not keep other source rows out: they match nothing and are inserted on every run",
            f"filter the source inside USING, or write WHEN NOT MATCHED AND {text}",
            fix=guard(merge, clause, [authors_words(merge, conjunct)]),
        )
