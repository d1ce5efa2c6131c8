"""The whole target is scanned.

## What it does
Reports every MERGE whose verdict is `none`: no condition of it keeps the engine from reading a file of the target, and
the runner can derive no bounds for it either. Where there is more to say, the other codes beside it say why.

## Why it matters
Delta and Iceberg prune the target of a MERGE by what its text says, not by what the source holds: an equality between
target and source skips no file. The merge gets slower as the table grows, however few rows the source has, and it
conflicts with every other writer.

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
using (select * from {{ source('raw', 's') }} where dt >= date'2024-01-01') as s
   on t.id = s.id and t.dt = s.dt and t.dt >= date'2024-01-01'
when matched then update set amount = s.amount
```

## When to ignore it
Where reading everything is meant, as for a small dimension: write `scan='full'` in the model's config. The verdict
stays `none`, and P001, P002, P006 and K001 are silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.subject import LintedMerge

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """The verdict `none`."""
    if merge.judgement.verdict == "none" and not merge.scans_all_on_purpose:
        yield Hit(
            merge.statement.on_span,
            f"the whole target is scanned: {merge.judgement.reason}",
            _hint(merge),
            subject=" and ".join(conjunct.text for conjunct in merge.statement.on),
        )


def _hint(merge: LintedMerge) -> str:
    meant = "; config(scan='full') says that reading everything is meant" if merge.file.node is not None else ""
    if merge.scans_by_source:
        return f"no condition helps beside that clause: take it out, and do its work by a MERGE of its own{meant}"
    where = "by a constant in ON, and the source in USING by the same" if merge.inserts else "by a constant in ON"
    return f"restrict {_column(merge)} {where}{meant}"


def _column(merge: LintedMerge) -> str:
    layout = merge.layout
    if layout.partition_by:
        columns = " or ".join(dict.fromkeys(f"`{field.column}`" for field in layout.partition_by))
        return f"{columns}, by which the table is partitioned,"
    if layout.cluster_by:
        columns = " or ".join(f"`{column}`" for column in layout.cluster_by)
        return f"{columns}, by which the table is clustered,"
    return "a column that has file statistics"
