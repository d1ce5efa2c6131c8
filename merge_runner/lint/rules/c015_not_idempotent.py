"""SET adds to the target's own value.

## What it does
It reports an UPDATE that sets a column to its own value and something more: `n = t.n + s.n`, `n = coalesce(t.n, 0) +
1`, `x = concat(t.x, s.x)`, `a = array_append(t.a, s.x)`. It is silent where a second run need not add again:

- a condition is about a column that the clause sets as well, such as `s.version > t.version` with `version =
  s.version`
- the source reads the changes of a table (`changes('model')`) or a stream: each change is merged once
- the source reads the target, from which it may know what was merged
- the file sets the transaction of Delta's idempotent writes (`txnVersion`)

## Why it matters
A run that is repeated with the same source rows, after a failure or by a backfill, counts them twice. No error is
raised, and nothing in the table shows it.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set amount = t.amount + s.amount
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched and s.ts > t.ts then update set amount = t.amount + s.amount, ts = s.ts
when not matched then insert *
```

## When to ignore it
Where the model is built with a batch id (`--batch-id N`), which commits each batch once, or each source row is read
once in another way. Computing the value from all rows of its group in USING, instead of adding to it, needs neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.accumulation import accumulating_updates

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.merge.statement import Assignment

SEVERITY: Severity = "info"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each clause that adds to values of the target, at the first of them."""
    updates = list(accumulating_updates(merge.statement, merge.scope))
    if not updates or merge.merges_once:
        return
    once = ", or build it with a batch id (--batch-id N)" if merge.file.node is not None else ""
    for clause, assignments in updates:
        names = ", ".join(_name(merge, assignment) for assignment in assignments)
        guard = " AND s.version > t.version, with version set too" if clause.kind == "matched" else ""
        yield Hit(
            assignments[0].span,
            f"SET adds to the value of {names} in the target: a run that is repeated adds the same rows again",
            f"compute it from all rows in USING, guard the clause by what it sets (WHEN MATCHED{guard}){once}"
            if guard
            else f"compute it from all rows in USING{once}",
        )


def _name(merge: LintedMerge, assignment: Assignment) -> str:
    """The column, with the fields below it and without the target's alias."""
    reference = merge.scope.resolve(assignment.column)
    return reference.dotted if reference.side == "target" else ".".join(assignment.column)
