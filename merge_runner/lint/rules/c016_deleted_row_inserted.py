"""Rows that a DELETE clause is for are inserted where they match nothing.

## What it does
It takes the WHEN MATCHED … THEN DELETE clauses whose condition asks something of the source, such as `s.op = 'D'`, and
reports an INSERT clause that takes such rows as well. It is silent where the INSERT asks something of the same columns,
where it writes them into the target, and where USING leaves such rows out, or reads the target: then they may be rows
that are there.

## Why it matters
In a feed of changes (CDC) the deletes come as rows too. A delete of a key that is not in the table, because it was
inserted and deleted in one batch or the batch runs a second time, matches nothing: the deleted row is inserted. When
the same batch runs again, the row is deleted, then inserted again, and so on.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched and s.name = 'D' then delete
when matched then update set amount = s.amount
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched and s.name = 'D' then delete
when matched then update set amount = s.amount
when not matched and not s.name <=> 'D' then insert *
```

## When to ignore it
Where the source holds a delete only of keys that are in the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.guard_fix import authors_words, guard
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.inserted_deletes import inserted_deletes

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.merge.statement import Expr

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit on each INSERT clause that takes rows which a DELETE clause is for."""
    if not merge.inserts or merge.has_unknown_dbt_query:
        return
    for pair in inserted_deletes(merge.statement, merge.layout, merge.scope, merge.source):
        if merge.reads_target:
            return
        condition = pair.delete.condition
        text = " ".join(condition.text.split()) if condition is not None else ""
        not_deleted = f"not coalesce({text}, false)" if pair.whole else None
        yield Hit(
            pair.insert.span,
            f"rows to be deleted (`{text}`) are inserted where their key is not in the table",
            f"leave them out: WHEN NOT MATCHED AND {not_deleted}"
            if not_deleted
            else "leave them out of WHEN NOT MATCHED",
            fix=guard(merge, pair.insert, [_not(merge, condition)]) if not_deleted and condition is not None else None,
        )


def _not(merge: LintedMerge, condition: Expr) -> str | None:
    text = authors_words(merge, condition)
    return f"not coalesce({text}, false)" if text is not None else None
