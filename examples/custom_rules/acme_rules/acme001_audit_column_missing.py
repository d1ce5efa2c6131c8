"""An UPDATE does not set the audit column.

## What it does

Reports `WHEN MATCHED … UPDATE SET` with a list of columns that leaves out an audit column. `UPDATE SET *` sets every
column that the source has and is not reported.

## Why it matters

Downstream jobs read the rows that changed since their last run by that column.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount, updated_at = current_timestamp()
```

## When to ignore it

Where the table has no such column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from merge_runner.lint.context import LintedMerge
from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit, RuleOptions

SEVERITY: Severity = "warning"
URL = "https://example.com/acme-merge-rules#ACME001"


@dataclass(frozen=True)
class Options(RuleOptions):
    """The audit columns."""

    columns: Annotated[tuple[str, ...], Field(description="Columns that every UPDATE sets.")] = ("updated_at",)


def check_merge(merge: LintedMerge, options: Options) -> Iterator[Hit]:
    """Yield a hit for each UPDATE and each audit column that it does not set."""
    for clause in merge.statement.clauses:
        if clause.action != "update" or clause.star:
            continue
        columns = {assignment.column[-1].casefold() for assignment in clause.assignments}
        for column in options.columns:
            if column.casefold() not in columns:
                yield Hit(clause.span, f"UPDATE does not set `{column}`", f"add `{column} = current_timestamp()`")
