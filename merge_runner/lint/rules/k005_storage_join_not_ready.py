"""Two Iceberg tables could join without a shuffle, and something small is missing.

## What it does

Looks at a MERGE whose target and source are both partitioned Iceberg tables, joined by a column that both are
partitioned by in the same way. Reports the confs and join keys that are missing for a storage-partitioned join. Confs
count where the model's `conf` sets them.

## Why it matters

With them, Spark joins partition by partition and shuffles neither table. The table property
`write.merge.distribution-mode = none` takes the shuffle in front of the write away, too.

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
  conf: {spark.sql.iceberg.planning.preserve-data-grouping: "true"}
source_table: {format: iceberg, partition_by: ["bucket(8, id)"]}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched then update set name = s.name
```

## When to ignore it

Where the source is small enough to be broadcast, or the profile sets the confs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.subject import LintedMerge
    from merge_runner.pruning.layout import PartitionField

SEVERITY: Severity = "info"

_GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"
_BUCKETING = "spark.sql.sources.v2.bucketing.enabled"
_PUSH_VALUES = "spark.sql.sources.v2.bucketing.pushPartValues.enabled"
_ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"
_SUBSET = "spark.sql.sources.v2.bucketing.allowJoinKeysSubsetOfPartitionKeys.enabled"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """What keeps two Iceberg tables from a storage-partitioned join."""
    if merge.layout.format != "iceberg" or not merge.layout.partition_by:
        return
    source = _source_partitions(merge)
    if not source:
        return
    joined = _joined(merge)
    pairs = {field: _pair(field, source, joined) for field in merge.layout.partition_by}
    if not any(pairs.values()):
        return
    conf = merge.file.conf
    loose = [str(field) for field, pair in pairs.items() if pair is None]
    loose += [str(field) for field in source if field not in pairs.values()]
    for missing, hint in _missing(conf, loose, more_keys=len(joined) > len(merge.layout.partition_by)):
        yield Hit(merge.statement.on_span, f"the two Iceberg tables could join without a shuffle, but {missing}", hint)


def _missing(conf: Mapping[str, str], loose: list[str], *, more_keys: bool) -> Iterator[tuple[str, str]]:
    """What is missing, and what to do. The defaults are those of Spark 4.1.4."""
    wanted = [(_GROUPING, "true", "false"), (_BUCKETING, "true", "true"), (_PUSH_VALUES, "true", "true")]
    if more_keys:
        wanted.append((_ALL_KEYS, "false", "true"))
    for key, value, default in wanted:
        if conf.get(key, default).lower() != value:
            yield f"{key} is not {value}", f"set it in the model's `conf`: {key}: '{value}'"
    if loose and conf.get(_SUBSET, "false").lower() != "true":
        yield f"ON does not join {', '.join(loose)}", f"join every partition column, or set {_SUBSET}: 'true'"


def _source_partitions(merge: LintedMerge) -> tuple[PartitionField, ...]:
    """The partitioning of a source that is an Iceberg table by itself; () where it is none, or not known."""
    source = merge.statement.source
    if source.kind != "table" or not source.parts:
        return ()
    if len(source.parts) == 1 and any(
        cte.name.casefold() == source.parts[0].casefold() for cte in merge.statement.ctes
    ):
        return ()
    known = merge.lookup(source.parts)
    if known is None or known.query is not None or known.layout.format != "iceberg":
        return ()
    return known.layout.partition_by or ()


def _joined(merge: LintedMerge) -> set[tuple[str, str]]:
    """Pairs of columns, of target and source, that ON equates."""
    from merge_runner.pruning.join_keys import join_keys

    found = set()
    for key in join_keys(merge.statement.on, merge.scope):
        other = merge.scope.reference(key.source)
        if other is not None:
            found.add((key.column.dotted.casefold(), other.dotted.casefold()))
    return found


def _pair(
    field: PartitionField, source: tuple[PartitionField, ...], joined: set[tuple[str, str]]
) -> PartitionField | None:
    """The field of the source that is made in the same way of the column that this one's is joined to."""
    for other in source:
        same = (field.transform, field.parameter) == (other.transform, other.parameter)
        if same and (field.column.casefold(), other.column.casefold()) in joined:
            return other
    return None
