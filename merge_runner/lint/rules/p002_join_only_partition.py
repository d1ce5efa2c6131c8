"""A partition column is joined, and nothing more.

## What it does
Reports `t.p = s.p` where `p` is a partition column of the target, no condition of ON skips a file, and the runner
derives no bounds either: `bounds` is `off` or names other columns, nothing runs the text (a plain file), or the join
is none that bounds follow from, such as `date_add(t.p, 1) = s.p`.

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
from merge_runner.lint.rule import Hit
from merge_runner.pruning.predicate import Other
from merge_runner.pruning.read_predicate import predicate

if TYPE_CHECKING:
    from merge_runner.lint.subject import LintedMerge

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Joins on partition columns that neither the text nor the runner bounds."""
    if merge.scans_all_on_purpose or merge.judgement.verdict != "none" or merge.scans_by_source:
        return
    for conjunct, condition in zip(merge.statement.on, merge.judgement.on, strict=True):
        if condition.cause != "join" or not isinstance(predicate(conjunct.expression, merge.scope), Other):
            continue  # an OR whose legs all have a join in common is P005's
        column = next((name for name in condition.columns if merge.layout.partition_field(name) is not None), None)
        if column is not None:
            yield Hit(
                condition.span,
                f"`{column}` is a partition column, and joining it to the source skips no partition",
                _hint(merge, column),
            )


def _hint(merge: LintedMerge, column: str) -> str:
    also = ", and the source in USING by the same" if merge.inserts else ""
    literal = f"restrict `{column}` by a constant in ON{also}"
    if merge.file.node is None:
        return literal
    if merge.config.get("bounds", "auto") != "auto":
        return f"leave `bounds` at auto, so that the runner derives them from the source when it runs, or {literal}"
    return f"{literal}; the runner derives bounds only where the bare column equals an expression of the source alone"
