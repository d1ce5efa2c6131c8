"""The target is partitioned, and ON uses no partition column.

## What it does
Reports a MERGE into a partitioned table whose ON names none of the columns that the table is partitioned by, where the
whole target is scanned for it (the verdict is `none`), or where only the statistics of a data column skip files.

Where the whole target is scanned, its severity is that of [P001](P001.md), which is always next to it; else `info`.

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
from merge_runner.lint.full_scan import full_scan_severity
from merge_runner.lint.rule import Hit
from merge_runner.pruning.layout.layout import base_columns
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
    used = {column.casefold() for condition in merge.judgement.on for column in condition.columns}
    if not any(field.column.casefold() in used for field in fields) and not any(_is_generated(merge, used)):
        message = f"the target is partitioned by {listed(fields)}, and ON does not use it"
        if pruning:
            by_data = listed(dict.fromkeys(name for condition in pruning for name in condition.columns))
            message += f": files are skipped by the statistics of {by_data} alone"
        yield Hit(
            merge.statement.on_span,
            message,
            _hint(merge, fields[0].column),
            "info" if pruning else full_scan_severity(merge),
        )


def _is_certain(merge: LintedMerge) -> bool:
    """Whether ON reads rows, and each column in it is known to be the target's or the source's."""
    return all(
        condition.side != "unknown" and condition.prunes is not None and condition.cause != "always-false"
        for condition in merge.judgement.on
    )


def _hint(merge: LintedMerge, column: str) -> str:
    target, source = merge.statement.target.qualifier, merge.statement.source.qualifier
    literal = f"a filter of `{column}` by a constant"
    if target is None or source is None or merge.source.has_column(column) is False:
        return f"add {literal}"
    return f"add {target}.{column} = {source}.{column} where a row never changes its partition, or {literal}"


def _is_generated(merge: LintedMerge, used: set[str]) -> Iterator[bool]:
    """Whether ON names what a partition column is generated from: that is K003's to say."""
    for field in merge.layout.partition_by or ():
        yield bool(base_columns(merge.layout, field.column) & used)
