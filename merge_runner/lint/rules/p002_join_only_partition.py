"""A partition column is joined, and nothing more.

## What it does
Reports `t.p = s.p` where `p` is a partition column of the target, no condition of ON skips a file, and no bounds are
derived when it runs either. The message names the reason: `bounds` is `off` or names other columns, nothing runs the
text (a plain file), bounds do not follow from such a join (`date_add(t.p, 1) = s.p`), or the source cannot be read
before the MERGE (it reads rows of the target, say). Several such columns are one finding where the reason is the same.

It takes the place of [P001](P001.md), whose severity and help it has.

## Why it matters
It looks as if the merge touched only the partitions that the source holds. It does not: open-source Delta and Iceberg
derive nothing from the source when they pick the files of the target, so every partition is read.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
```
```yaml
config: {partition_by: [dt], bounds: 'off'}
```

## Good
```sql
merge into {{ this }} as t
using (select * from {{ source('raw', 's') }} where dt >= date'2024-01-01') as s
   on t.id = s.id and t.dt = s.dt and t.dt >= date'2024-01-01'
when matched then update set amount = s.amount
```

## When to ignore it
Where the table is small: write `scan='full'` in the model's config.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import constant_filter, full_scan_severity, scanned
from merge_runner.lint.rule import Hit
from merge_runner.lint.scan_remedies import scan_remedies
from merge_runner.pruning.predicate.normalize import predicate
from merge_runner.pruning.predicate.predicate import Other
from merge_runner.pruning.verdict import Condition, listed

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Joins on partition columns that neither the text nor a runtime filter restricts."""
    if merge.scans_all_on_purpose or merge.judgement.verdict != "none" or merge.scans_by_source:
        return
    joins_by_reason: dict[str, list[tuple[Condition, str]]] = {}
    for conjunct, condition in zip(merge.statement.on, merge.judgement.on, strict=True):
        if condition.unbounded is None or not isinstance(predicate(conjunct.expression, merge.scope), Other):
            continue  # an OR whose legs all have a join in common is P005's
        column = next((name for name in condition.columns if merge.layout.partition_field(name) is not None), None)
        if column is not None:
            joins_by_reason.setdefault(condition.unbounded, []).append((condition, column))
    for reason, joins in joins_by_reason.items():
        condition, column = joins[0]
        names = dict.fromkeys(name for _, name in joins)
        columns, several = listed(names), len(names) > 1
        yield Hit(
            condition.span,
            f"{columns} {'are partition columns' if several else 'is a partition column'}, joining "
            f"{'them' if several else 'it'} to the source skips no partition, and no bounds are derived: "
            f"{reason}{scanned(merge)}",
            scan_remedies(merge, _hint(merge, column)),
            full_scan_severity(merge),
            replaces=("P001",),
        )


def _hint(merge: LintedMerge, column: str) -> str:
    """What to write: what gives bounds where the config keeps them away, else a filter."""
    literal = constant_filter(merge, column)
    bounds = merge.file.node.config.bounds if merge.file.node is not None else "auto"
    if bounds == "off":
        return f"leave `bounds` at auto, so that they are derived from the source when it runs, or {literal}"
    if bounds != "auto" and column.casefold() not in {name.casefold() for name in bounds}:
        return f"add {column} to `bounds` or leave it at auto, so that they are derived from the source, or {literal}"
    return literal
