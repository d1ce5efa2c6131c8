"""A column that ON joins by is not inserted, not as ON compares it, or made again in each run.

## What it does
It looks at the columns of the target that ON equates with an expression of the source, and reports an INSERT clause
that does not have one of them in its list, or writes NULL into it. Columns that the table computes or fills are fine
(generated columns, identities, columns with a DEFAULT), as far as the model's YAML or a layout file says so. `INSERT *`
writes all columns. A key inside a function is reported where the function gives NULL for NULL, as `lower(t.k)` does.

It is a warning where the columns of the table are not known: it may fill the key by itself.

It is a warning, too, where the key is stored otherwise than ON compares it:

- the column has a narrower type, or another scale: `t.day = s.ts` where `day` is a date and `ts` a timestamp,
  `decimal(10,4)` into `decimal(10,2)`, a double into an integer. The types are those of YAML, of CREATE TABLE in the
  same file, and of casts.
- a function is around one of the two: `t.code = s.code` and `insert (code) values (upper(s.code))`

A source that computes the column itself is not reported, as it may give the stored form already.

And it is one where USING makes another key in each run: `uuid()`, `rand()`, `current_timestamp()`,
`monotonically_increasing_id()`, or `row_number()` over all rows, whose number is another row's as soon as one is added.
That is fine where USING reads the target, or the changes of a table, as each row gets its key once there.

## Why it matters
A row without its key has NULL there, and `NULL = …` is not true: no later run finds the row. Neither does one find a
row that is stored cut, rounded or in other letters. The next run with the same source row inserts it again, without an
error.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt and t.region = s.region
when matched then update set amount = s.amount
when not matched then insert (id, dt, amount) values (s.id, s.dt, s.amount)
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt and t.region = s.region
when matched then update set amount = s.amount
when not matched then insert (id, dt, region, amount) values (s.id, s.dt, s.region, s.amount)
```

## When to ignore it
Where the table fills the column in a way that lint does not know of. A layout file says so (`filled: true`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.remade_keys import remade_keys
from merge_runner.pruning.judge.stored_keys import differing_stored_keys
from merge_runner.pruning.judge.unmatched_rows import unfilled_keys

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """One hit for each key that an INSERT clause leaves NULL, or stores otherwise than ON compares it."""
    if not merge.inserts:
        return
    for stored_key in differing_stored_keys(merge.statement, merge.layout, merge.scope, merge.source, merge.lookup):
        yield Hit(
            stored_key.at,
            f"{stored_key.why}: no run finds such a row again by {stored_key.column}, and each inserts it again",
            "compare what is stored: cast or compute the key in USING, and use that in ON and in INSERT",
            "warning",
        )
    for remade in remade_keys(merge.statement, merge.scope, merge.lookup) if not merge.merges_once else ():
        words = (
            "numbers rows as they come: the next run gives the number to another row, and updates the wrong one"
            if remade.numbers
            else "is another value in each run: no run finds the row again, and each inserts it again"
        )
        yield Hit(
            remade.at,
            f"ON joins by {remade.column}, and {remade.by} {words}",
            "join by a key that the source has, or make one of such columns: sha2(concat_ws('|', …), 256)",
            "warning",
        )
    for key in unfilled_keys(merge.statement, merge.layout, merge.scope, merge.source):
        how = "is not inserted" if key.null is None else "is inserted as NULL"
        value = f": {key.source}" if key.source else ""
        hint = f"insert the value that ON compares it with{value}"
        if not key.certain:
            hint += "; where the table fills it (an identity, a default), say so in a layout file"
        yield Hit(
            key.clause.span if key.null is None else key.null.span,
            f"ON joins by {key.column}, which {how}: no run finds the row again, and each inserts it again",
            hint,
            None if key.certain else "warning",
        )
