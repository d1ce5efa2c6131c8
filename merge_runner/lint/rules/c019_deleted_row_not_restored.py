"""A row that was marked as deleted stays marked when the source has it again.

## What it does
It looks at WHEN NOT MATCHED BY SOURCE … THEN UPDATE (a soft delete) that writes a constant or the current time into a
column, such as `is_deleted = true`, into which each INSERT writes another constant. It reports the column where no WHEN
MATCHED clause writes it, or where one does for rows alone that have changed: `when matched and t.v <> s.v then update
set is_deleted = false, v = s.v` leaves a row marked that comes back as it was. It is silent where ON or a condition of
WHEN MATCHED asks for one of the columns that the clause writes, as histories do, where rows that match are deleted,
where USING reads the target, where the model has a hook, and where a plain file holds another statement that writes.

## Why it matters
A row that comes back matches the one that is marked. It is updated and stays marked as deleted, while the same row is
live where it is inserted. No error is raised: readers that leave out marked rows never see it again.

## Bad
```sql
{{ config(scan='full') }}

merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
when not matched then insert (id, dt, amount, flag) values (s.id, s.dt, s.amount, true)
when not matched by source then update set flag = false
```

## Good
```sql
{{ config(scan='full') }}

merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount, flag = true
when not matched then insert (id, dt, amount, flag) values (s.id, s.dt, s.amount, true)
when not matched by source then update set flag = false
```

## When to ignore it
Where a row that is gone once is gone for good, whatever the source delivers later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.soft_delete import kept_marks

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit on each mark that no matched clause takes back."""
    if not (merge.scans_by_source and merge.inserts) or merge.has_another_writer:
        return
    for mark in kept_marks(merge.statement, merge.layout, merge.scope, merge.source):
        if merge.reads_target:
            return
        if mark.unless is not None:
            yield Hit(
                mark.assignment.span,
                f"WHEN MATCHED writes {mark.column} back only where `{' '.join(mark.unless.text.split())}`: a row "
                "that is marked here and comes back as it was stays marked",
                f"let the clause take marked rows, too: … OR t.{mark.column} is not what INSERT writes",
            )
            continue
        yield Hit(
            mark.assignment.span,
            f"no WHEN MATCHED clause writes {mark.column}: a row that is marked here stays marked when the source has "
            "it again",
            f"write {mark.column} in WHEN MATCHED as INSERT does",
        )
