"""Two Iceberg tables could join without a shuffle, and something small is missing.

## What it does

Looks at a MERGE whose target and source are both partitioned Iceberg tables, joined by a column that both are
partitioned by in the same way. Reports the confs and join keys that are missing for a storage-partitioned join. Confs
count where the model or the profile sets them; `storage_join: true` sets them all.

## Why it matters

With them, Spark joins partition by partition and shuffles neither table. `explain --spark` counts the shuffles that are
left in the engine's plan, and says what removes each.

## Bad

```yaml
config: {format: iceberg, partition_by: ["bucket(8, id)"]}
source_table: {format: iceberg, partition_by: ["bucket(8, id)"]}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then update set name = s.name
```

## Good

```yaml
config:
  format: iceberg
  partition_by: ["bucket(8, id)"]
  storage_join: true
source_table: {format: iceberg, partition_by: ["bucket(8, id)"]}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then update set name = s.name
```

## When to ignore it

Where the source is small enough to be broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.formats.storage_join import ALL_KEYS, SETTINGS, SORT_MERGE, SUBSET
from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.storage_join import StorageJoin, storage_join

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "info"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """What keeps two Iceberg tables from a storage-partitioned join."""
    join = storage_join(merge)
    if join is None or not join.paired:
        return
    for missing, hint in _missing(merge, join):
        yield Hit(merge.statement.on_span, f"the two Iceberg tables could join without a shuffle, but {missing}", hint)


def _missing(merge: LintedMerge, join: StorageJoin) -> Iterator[tuple[str, str]]:
    """What is missing, and what to do."""
    conf = merge.file.conf
    for setting in SETTINGS:
        if setting.key == SORT_MERGE or (setting.key == ALL_KEYS and not join.more_keys):
            continue
        if conf.get(setting.key, setting.default).lower() != setting.value:
            hint = f"`storage_join: true` sets it, or the model's `conf`: {setting.key}: '{setting.value}'"
            yield f"{setting.key} is not {setting.value}", hint
    for field, source_field in join.differing:
        yield f"its field {field} is {source_field} in the source", "partition both tables alike"
    if join.loose and conf.get(SUBSET, "false").lower() != "true":
        loose = ", ".join(map(str, join.loose))
        yield f"ON does not join {loose}", f"join every partition column, or set {SUBSET}: 'true'"
