"""WHEN NOT MATCHED BY SOURCE turns pruning off.

## What it does
Reports a MERGE with a WHEN NOT MATCHED BY SOURCE clause, whatever else it says.

It takes the place of [P001](P001.md), whose severity it has: the clause is why the whole target is scanned, and one
finding says so. P001 is reported where this rule is not selected.

## Why it matters
The clause asks for the rows of the target that the source does *not* have, so every row has to be read. On Delta all
files are rewritten, even when ON and the clause are both restricted to one partition and nothing is deleted; on Iceberg
nothing is pushed to the scan, and the commit conflicts with every other one.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = date'2024-01-01'
when matched then update set amount = s.amount
when not matched by source and t.dt = date'2024-01-01' then delete
```

## Good
Merge without the clause, and delete the rows that are gone by a separate MERGE, as a `post_hook` or a model after
this one. Its USING finds them, and its ON prunes. (A plain DELETE does not do: on Delta it takes no subquery.)
```sql
merge into {{ this }} as t
using (
  select gone.id from {{ this }} as gone
  left anti join {{ source('raw', 's') }} as s on s.id = gone.id
  where gone.dt = date'2024-01-01'
) as s
   on t.id = s.id and t.dt = date'2024-01-01'
when matched then delete
```

## When to ignore it
For a small table that is compared as a whole: write `scan='full'` in the model's config.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import full_scan_severity, scanned
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"

_COST = "every file of the target is read"
"""What it costs where the format of the table is not known."""


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """The first clause of the kind."""
    if merge.scans_all_on_purpose:
        return
    format = merge.layout.capabilities
    cost = format.by_source_scan if format is not None else _COST
    for clause in merge.statement.clauses:
        if clause.kind == "not_matched_by_source":
            yield Hit(
                clause.span,
                f"WHEN NOT MATCHED BY SOURCE turns pruning off: {cost}{scanned(merge)}",
                _hint(merge, clause.action),
                full_scan_severity(merge),
                replaces=("P001",),  # nothing in ON could change the scan
            )
            return


def _hint(merge: LintedMerge, action: str) -> str:
    full_scan_hint = "; config(scan='full') says that the scan is meant" if merge.file.node is not None else ""
    return (
        f"{action} these rows by a separate MERGE: find them in USING (the target's partition, anti-joined to the "
        f"source), and restrict the partition by a constant in ON{full_scan_hint}"
    )
