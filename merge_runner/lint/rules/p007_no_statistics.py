"""A filter is on a column that has no file statistics.

## What it does
Reports a condition of ON on a bare column for which files keep no smallest and largest value. On Delta that is a
boolean, binary or nested column, and one that is not among the first 32 (fields of structs count one by one;
`delta.dataSkippingNumIndexedCols` sets the number) or, where `delta.dataSkippingStatsColumns` is set, not named
there. On Iceberg it is one whose `write.metadata.metrics` mode is `none` or `counts`.

A boolean, such as `t.is_current` of a history, is there for the rows that it selects: it is an `info`, and not reported
where the model says `scan='full'`. Where [P001](P001.md) or what takes its place is reported, its help says the same.

Where it is why the whole target is scanned, it takes the place of [P001](P001.md), with its severity.

## Why it matters
The filter is right, and no file can be skipped by it.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.region = 'EU'
when matched then delete
```
```yaml
config: {partition_by: [], properties: {delta.dataSkippingStatsColumns: 'id,dt'}}
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = date'2024-01-01' and t.region = 'EU'
when matched then delete
```

## When to ignore it
Where the condition is there for what it does. It is not reported where another condition prunes, or bounds do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import scanned
from merge_runner.lint.rule import Hit
from merge_runner.lint.scan_remedies import goes_with_a_flag
from merge_runner.pruning.verdict import Condition

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Filters on columns without statistics, where nothing else prunes."""
    if merge.scans_by_source or merge.judgement.verdict in ("static", "runtime"):
        return
    for condition in merge.judgement.on:
        if condition.cause != "no-statistics" or not condition.filters:
            continue
        if condition.pattern != "boolean":
            message = f"the filter on {condition.named} does not prune: {condition.reason}{scanned(merge)}"
            yield Hit(condition.span, message, _hint(merge, condition), replaces=("P001",))
        elif not merge.scans_all_on_purpose:
            message = f"{condition.named} selects rows and skips no file: Delta keeps no statistics of booleans"
            yield Hit(condition.span, message, goes_with_a_flag(merge), "info", variant="flag")


def _hint(merge: LintedMerge, condition: Condition) -> str:
    if condition.pattern == "position":
        property_hint = "name it in the table property delta.dataSkippingStatsColumns"
        return (
            property_hint
            if merge.layout.statistics is not None
            else f"{property_hint}, or move the column further to the front"
        )
    if condition.pattern == "metrics":
        mode = f"write.metadata.metrics.column.{_path(merge, condition)}"
        return f"set the table property {mode} to truncate(16) or full; files that are there already stay without"
    if merge.layout.partition_by:
        columns = " or ".join(dict.fromkeys(f"`{field.column}`" for field in merge.layout.partition_by))
        return f"restrict {columns}, by which the table is partitioned, as well"
    return "restrict another column that goes with it as well, best one that the table is partitioned or clustered by"


def _path(merge: LintedMerge, condition: Condition) -> str:
    """The column as the condition names it, with the fields of structs."""
    for conjunct in merge.statement.on:
        if conjunct.span == condition.span and conjunct.expression is not None:
            for column in merge.scope.columns(conjunct.expression):
                if column.side == "target":
                    return column.dotted
    return condition.columns[0]
