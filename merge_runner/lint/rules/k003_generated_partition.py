"""A filter is on the base column of a generated partition column: MERGE derives nothing from it.

## What it does
Reports a filter on `ts` where the Delta table is partitioned by a column that is generated from `ts`, and neither a
filter nor a bound is on that partition column itself.

It takes the place of [P001](P001.md), with its severity, where the whole target is scanned.

## Why it matters
A SELECT derives the partition filter from `ts`; a MERGE does not. Only the statistics of `ts` help.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.ts >= timestamp'2024-01-01'
when matched then delete
```
```yaml
columns: {id: bigint, ts: timestamp, dt: 'date generated always as (cast(ts as date))'}
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.ts >= timestamp'2024-01-01' and t.dt >= date'2024-01-01'
when matched then delete
```
```yaml
columns: {id: bigint, ts: timestamp, dt: 'date generated always as (cast(ts as date))'}
```

## When to ignore it
Where the file statistics of the base column are enough: they skip the same files, but each file is asked, and writers
of other partitions conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import scanned
from merge_runner.lint.rule import Hit
from merge_runner.pruning.layout.layout import base_columns

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Filters on what a partition column is generated from."""
    format = merge.layout.capabilities
    if (format is not None and not format.generated_columns) or merge.scans_by_source:
        return
    conditions = [condition for condition in merge.judgement.on if condition.filters]
    restricted = {column.casefold() for condition in conditions for column in condition.columns}
    if merge.judgement.left_out is None:
        restricted |= {bound.column.casefold() for bound in merge.judgement.bounds}
    for field in merge.layout.partition_by or ():
        base = base_columns(merge.layout, field.column)
        if field.column.casefold() in restricted:
            continue
        for condition in conditions:
            names = [column for column in condition.columns if column.casefold() in base]
            if names:
                yield Hit(
                    condition.span,
                    f"MERGE derives no filter of the partition column `{field.column}` from `{names[0]}`"
                    f"{scanned(merge)}",
                    f"restrict `{field.column}`, which is generated from `{names[0]}`, as well",
                    replaces=("P001",),
                )
