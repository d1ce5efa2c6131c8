"""An Iceberg partition transform cannot use this predicate.

## What it does
Reports a filter on a column that an Iceberg table is partitioned by through a transform, where that transform cannot
use the filter: a range of `id` or `id <> 100` under `bucket(8, id)`, a prefix of two letters under
`truncate(4, name)`, a call of `system.bucket(16, t.id)` where the table has 8 buckets.

It takes the place of [P001](P001.md), with its severity, where the whole target is scanned.

## Why it matters
Such a filter skips no partition. What is left are the bounds of the files, and these cover nearly everything in a table
of buckets: a bucket is a hash, and values that lie side by side are spread over all of them.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.id >= 100
when matched then delete
```
```yaml
config: {format: iceberg, partition_by: ['bucket(8, id)']}
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.id in (100, 101)
when matched then delete
```
```yaml
config: {format: iceberg, partition_by: ['bucket(8, id)']}
```

## When to ignore it
Where another filter prunes, or the table is sorted by the column within its buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import scanned
from merge_runner.lint.rule import Hit
from merge_runner.pruning.layout.layout import PartitionField
from merge_runner.pruning.verdict import Condition

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "warning"


_USES = {
    "bucket": "a bucket is found by = and IN only",
    "truncate": "a truncated column is found by =, IN and ranges, and by LIKE with all of its characters before the %",
}
_DATES = "years, months, days and hours are found by =, IN and ranges"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Filters that the transform of their column cannot use."""
    if merge.scans_by_source:
        return
    for condition in merge.judgement.on:
        if not condition.filters:
            continue
        names = condition.named
        _, by_bounds, transform = condition.pattern.rpartition("transform ")
        if by_bounds:
            field = _field(merge, condition, transform) or transform
            yield Hit(
                condition.span,
                f"{field} cannot use the filter on {names}: only the bounds of the files are left to skip by",
                _USES.get(transform, _DATES),
            )
        elif condition.cause == "negation":
            if (hidden := _hidden(merge, condition)) is not None:
                message = f"{hidden} cannot use the filter on {names}: {condition.reason}{scanned(merge)}"
                yield Hit(condition.span, message, _USES.get(hidden.transform, _DATES), replaces=("P001",))
        elif condition.cause == "transform":
            has_field = _field(merge, condition, transform) is not None
            hint = (
                _USES.get(transform, _DATES) if has_field else f"compare {names} itself: Iceberg finds its partitions"
            )
            message = f"the filter on {names} does not prune: {condition.reason}{scanned(merge)}"
            yield Hit(condition.span, message, hint, replaces=("P001",))


def _hidden(merge: LintedMerge, condition: Condition) -> PartitionField | None:
    """The transform by which the table is partitioned by the condition's column; None where it is none or identity."""
    fields = [merge.layout.partition_field(name) for name in condition.columns]
    return next((item for item in fields if item is not None and item.transform != "identity"), None)


def _field(merge: LintedMerge, condition: Condition, transform: str) -> PartitionField | None:
    """The field of the partitioning that is the transform of the condition's column."""
    names = {column.casefold() for column in condition.columns}
    fields = merge.layout.partition_by or ()
    return next((item for item in fields if item.transform == transform and item.column.casefold() in names), None)
