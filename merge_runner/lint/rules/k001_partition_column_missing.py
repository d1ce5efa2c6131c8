"""The target is partitioned, and ON uses no partition column.

## What it does
Reports a MERGE into a partitioned table whose ON names none of the columns that the table is partitioned by, where the
whole target is scanned for it (the verdict is `none`), or where only the statistics of a data column skip files.

Where the whole target is scanned, it takes the place of [P001](P001.md), whose severity and help it has, and of K002
for `SET *`, which writes the partition column for the same reason; else it is `info`.

## Why it matters
Partitions are the one thing that is skipped for certain. Without them the merge reads the whole table and conflicts
with every other writer. A join on the partition column is enough for the runner to derive bounds.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then update set amount = s.amount
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
```

## When to ignore it
Where a row's partition can differ between source and target, so that the key alone must find it. For a small table
write `scan='full'` in the model's config.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import (
    constant_filter,
    full_scan_severity,
    scanned,
    uses_no_partitioning,
    window_filter,
)
from merge_runner.lint.rule import Hit
from merge_runner.lint.scan_remedies import scan_remedies
from merge_runner.pruning.verdict import listed

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """No conjunct names a column of the partitioning: the whole table is scanned, or a data column prunes alone."""
    fields = merge.layout.partition_by
    if not fields or merge.scans_all_on_purpose or merge.scans_by_source:
        return
    pruning = [condition for condition in merge.judgement.on if condition.prunes]
    if merge.judgement.verdict != "none" and not (pruning and _is_certain(merge)):
        return
    if uses_no_partitioning(merge):  # the base of a generated column is K003's
        message = f"the target is partitioned by {listed(fields)}, and ON does not use it"
        if pruning:
            by_data = listed(dict.fromkeys(name for condition in pruning for name in condition.columns))
            message += f": files are skipped by the statistics of {by_data} alone"
        hint = _hint(merge, fields[0].column)
        if not pruning:
            hint = scan_remedies(merge, hint)
        severity = "info" if pruning else full_scan_severity(merge)
        # `SET *` moves rows between partitions for the same reason: ON does not join by the partition column.
        replaces = () if pruning else ("P001", "K002 star")
        yield Hit(merge.statement.on_span, message + scanned(merge), hint, severity, replaces=replaces)


def _is_certain(merge: LintedMerge) -> bool:
    """Whether ON reads rows, and each column in it is known to be the target's or the source's."""
    return all(
        condition.side != "unknown" and condition.prunes is not None and condition.cause != "always-false"
        for condition in merge.judgement.on
    )


def _hint(merge: LintedMerge, column: str) -> str:
    if window_filter(merge) is not None:
        return constant_filter(merge)
    target, source = merge.statement.target.qualifier, merge.statement.source.qualifier
    literal = f"a filter of `{column}` by a constant"
    if target is None or source is None or merge.source.has_column(column) is False:
        return f"add {literal}"
    return f"add {target}.{column} = {source}.{column} where a row never changes its partition, or {literal}"
