"""A target filter is in a WHEN condition.

## What it does
Reports a condition of WHEN MATCHED that restricts the target by a constant and that would skip files in ON. Where the
MERGE only has WHEN MATCHED clauses and all of them have the condition, it is to be moved: it takes the place of
[P001](P001.md) then, with its severity. Else moving it changes what
the MERGE does, and the finding says how; next to an INSERT only filters of columns by which the target is partitioned
or clustered are reported, since a flag or a test for NULL is no window of the source's rows. It is silent where a
condition of ON prunes, and next to a BY SOURCE clause, where none can (P006).

## Why it matters
Conditions of WHEN are asked when the files have been read. Only Delta looks at them beforehand, and only where all
clauses are WHEN MATCHED and each of them restricts the target; an INSERT or a BY SOURCE clause ends that.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id
when matched and t.dt >= date'2024-01-01' then update set amount = s.amount
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using (select * from {{ source('raw', 's') }} where dt >= date'2024-01-01') as s
   on t.id = s.id and t.dt = s.dt and t.dt >= date'2024-01-01'
when matched then update set amount = s.amount
when not matched then insert *
```

## When to ignore it
Where the condition is there for what it does and not for speed. A source row that matches a row of the target outside
of a condition of ON counts as not matched, and an INSERT writes it a second time (C001); and a condition of ON is one
of all clauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import scanned
from merge_runner.lint.rule import Hit
from merge_runner.merge.split import split
from merge_runner.pruning.predicate.normalize import predicate
from merge_runner.pruning.predicate.predicate import All, Comparison, Predicate, Some
from merge_runner.pruning.predicate.tautology import conjunct_words

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.merge.statement import Conjunct
    from merge_runner.pruning.verdict import Condition

SEVERITY: Severity = "warning"
_MOVE = "move it to ON: the MERGE does the same then, and files are skipped"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Conditions of WHEN that would prune in ON."""
    if merge.judgement.verdict == "static" or merge.scans_by_source:
        return
    for clause, conditions in zip(merge.statement.clauses, merge.judgement.when, strict=True):
        if clause.condition is None or clause.kind != "matched":
            continue
        for conjunct, condition in zip(split(clause.condition), conditions, strict=False):
            if condition.cause == "in-when" and not (merge.inserts and not _is_window(merge, conjunct, condition)):
                message = f"the filter on {condition.named} is in WHEN, where it skips no file"
                if _is_of_all_clauses(merge, conjunct):
                    layout = merge.layout
                    of_partition = any(layout.partition_field(name) is not None for name in condition.columns)
                    replaces = ("P001", "K001") if of_partition else ("P001",)
                    yield Hit(condition.span, f"{message}{scanned(merge)}", _MOVE, replaces=replaces)
                else:
                    yield Hit(condition.span, message, _hint(merge, condition))


def _is_window(merge: LintedMerge, conjunct: Conjunct, condition: Condition) -> bool:
    """Whether it restricts what the table is laid out by to values, as the source can be restricted too."""
    layout = merge.layout
    laid_out = (layout.partition_field(name) is not None or layout.is_clustered(name) for name in condition.columns)
    return all(laid_out) and not _asks_for_state(predicate(conjunct.expression, merge.scope))


def _asks_for_state(shape: Predicate) -> bool:
    """Whether it is a test for NULL, or of a flag."""
    if isinstance(shape, All | Some):
        return any(map(_asks_for_state, shape.parts))
    if not isinstance(shape, Comparison):
        return False
    types = {constant.data_type.name for constant in shape.constants if constant.data_type is not None}
    return shape.operator in ("is null", "is not null") or "boolean" in types


def _is_of_all_clauses(merge: LintedMerge, conjunct: Conjunct) -> bool:
    """Whether each clause has the condition, and none inserts: the MERGE does the same with it in ON."""
    words = conjunct_words(conjunct)
    return not merge.inserts and all(
        clause.condition and words <= conjunct_words(clause.condition) for clause in merge.statement.clauses
    )


def _hint(merge: LintedMerge, condition: Condition) -> str:
    names = condition.named
    if merge.inserts:
        return (
            f"in ON alone it would have source rows inserted a second time that match a row outside of it: where the "
            f"source is to hold the same range of {names} only, restrict it in USING and add the filter to ON"
        )
    return f"in ON it would restrict the other clauses, too: move it there where none of them is to touch other {names}"
