"""A setting makes every task of a MERGE write into every partition.

## What it does

Reports a MERGE into a partitioned table whose settings switch off what brings the rows of a partition together before
they are written: `spark.databricks.delta.merge.repartitionBeforeWrite.enabled = false` on Delta (without optimized
writes), `write.merge.distribution-mode = none` on Iceberg, or `write.distribution-mode = none` where the MERGE only
inserts.

## Why it matters

Each run writes up to as many files as there are tasks times partitions. After some runs the table is all small files,
and reading it costs more than the shuffle that was spared.

## Bad

```yaml
config:
  format: iceberg
  partition_by: [dt]
  properties: {write.merge.distribution-mode: none}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set amount = s.amount
```

## Good

```yaml
config: {format: iceberg, partition_by: [dt]}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set amount = s.amount
```

## When to ignore it

Where the source holds few partitions at a time, or the table is compacted after each run. A storage-partitioned join
(`spark.sql.iceberg.planning.preserve-data-grouping`), which keeps partitions together by itself, is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.plan.explain.join_strategy import write_distribution_of

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "warning"

_GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """One finding, at the target."""
    conf = merge.file.conf
    distribution = write_distribution_of(merge, conf)
    if distribution is not None and not distribution.is_gathered and conf.get(_GROUPING, "false").lower() != "true":
        hint = f"leave {distribution.setting} out, or compact the table after each run"
        yield Hit(merge.statement.target.relation, f"{distribution.words}: small files", hint)
