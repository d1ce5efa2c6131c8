"""Two models write one table, and neither depends on the other.

## What it does

Reports two merge models with the same table of which neither comes before the other in the DAG. Two that both say
`concurrent: true` are left to X002.

## Why it matters

Which of the two runs first is not said anywhere, so the table may end in one of two ways, from one run to the next.
merge-runner never runs them concurrently, but the order is its own choice.

## Bad

```yaml
files:
  models/other.sql: |
    {{ config(alias='m', partition_by=['dt']) }}
    merge into {{ this }} as t
    using {{ source('raw', 's') }} as s
       on t.id = s.id and t.dt = s.dt
    when not matched then insert *
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
```

## Good

```yaml
files:
  models/other.sql: |
    {{ config(alias='m', partition_by=['dt']) }}
    -- depends_on: {{ ref('m') }}
    merge into {{ this }} as t
    using {{ source('raw', 's') }} as s
       on t.id = s.id and t.dt = s.dt
    when not matched then insert *
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
```

## When to ignore it

Where the two never touch the same rows, so that their order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.graph.writers import unordered_writers
from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedProject

SEVERITY: Severity = "error"


def check_project(project: LintedProject) -> Iterator[Hit]:
    """Pairs of unordered writers, each at the second one."""
    for first, second in unordered_writers(project.graph):
        if first.config.concurrent and second.config.concurrent:
            continue
        assert second.relation is not None
        yield Hit(
            second.place,
            f"{second.name} and {first.name} both write {second.relation.name}, and neither depends on the other",
            f"say which is first, as in `-- depends_on: {{{{ ref('{first.name}') }}}}`, or make one model of the two",
            subject=f"{first.name} {second.name}",
            model=second.name,
        )
