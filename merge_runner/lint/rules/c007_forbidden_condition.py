"""A condition holds what no condition of a MERGE can hold.

## What it does

Reports a subquery, an aggregate, a window function, a non-deterministic function and a generator in ON or in the
condition of a WHEN clause. Functions count by their built-in names. `current_date()`, `now()` and the like are fine:
they are the same for the whole statement; and so is everything in SET and VALUES.

## Why it matters

Delta and Spark refuse the statement: `DELTA_UNSUPPORTED_SUBQUERY`, `DELTA_AGGREGATION_NOT_SUPPORTED`,
`DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED`, `UNSUPPORTED_MERGE_CONDITION`.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched and s.ts > (select max(ts) from {{ source('raw', 's') }}) then update set *
```

## Good

```sql
merge into {{ this }} as t
using (
  select *, max(ts) over () as newest from {{ source('raw', 's') }}
) as s
   on t.id = s.id and t.dt = s.dt
when matched and s.ts >= s.newest then update set name = s.name
```

## When to ignore it

Where a temporary function of your own bears the name of a built-in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.merge.forbidden import forbidden

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile
    from merge_runner.merge.statement import Expr

SEVERITY: Severity = "error"


def check_file(file: LintedFile) -> Iterator[Hit]:
    """Everything forbidden in ON and WHEN."""
    if file.statement is None:
        return
    conditions: list[tuple[str, Expr]] = [("ON", conjunct) for conjunct in file.statement.on]
    conditions += [("WHEN", clause.condition) for clause in file.statement.clauses if clause.condition is not None]
    for where, condition in conditions:
        for use in forbidden(condition):
            subject = f"the {use.sort} {use.name}" if use.name else f"a {use.sort}"
            yield Hit(
                use.span,
                f"{subject} is not allowed in {where}",
                "compute it in USING, as a column of the source",
            )
