"""The whole target is scanned.

## What it does
Reports a MERGE whose verdict is `none`: no condition of it keeps the engine from reading a file of the target, and no
bounds can be derived when it runs either. A rule that knows the cause takes its place, with its severity, so that each
cause is one finding: P002, P003 to P005, P007, P009, K001, K003, K004 (a condition that could skip files and does not,
or is missing), P006 (WHEN NOT MATCHED BY SOURCE), P010 and C004 (ON is always true). P001 is reported where that rule
is not selected.

The help says what would avoid the scan of this merge, what leaves out most files first: a condition on a date or
timestamp that both sides have, then a layout by the key, so that each run is bounded by the keys that the source holds,
then merge-on-read (`low_shuffle`), which reads everything and does not write unchanged rows. A layout is only named
where the merge, judged with it, is bounded; where none is, the help says why. With a recorded catalog the message says
what is read: `365 files, 41.0 GiB, for a source of 2 days`.

Its severity depends on what is known of the table:

- `info` where the recorded catalog (`debug --write-catalog`) says that it holds at most 128 MiB;
- `error` where it is recorded with more, or is partitioned or clustered: there is a better way that the author missed;
- `warning` else. Most models without `partition_by` and `cluster_by` are small or new, and of the tables of plain files
  nothing is known unless `--layout`, a `CREATE TABLE` or a manifest has it.

With `platform: databricks` a join is a `warning` at most: the dynamic file pruning of Photon covers MERGE, on tables of
10 GB or more, and compute without Photon reads every file. That is taken from the vendor's documentation.

It depends on the project's files alone, so that CI reports what a developer's machine reports. The setting `severity`
comes before it.

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
```yaml
config: {partition_by: []}
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
stays `none`, and P001, P002, P006 and K001 are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import full_scan_severity, full_scan_size
from merge_runner.lint.rule import Hit
from merge_runner.lint.scan_remedies import scan_remedies

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """The verdict `none`."""
    if merge.judgement.verdict == "none" and not merge.scans_all_on_purpose:
        size = full_scan_size(merge)
        yield Hit(
            merge.statement.on_span,
            f"the whole target is scanned{f' ({size})' if size else ''}: {merge.judgement.reason}",
            scan_remedies(merge),
            full_scan_severity(merge),
            subject=" and ".join(conjunct.text for conjunct in merge.statement.on),
            replaces=("P007 flag",),
        )
