"""Jinja uses a name that does not exist.

## What it does

Reports everything that keeps a model's Jinja from being rendered: a name, macro, filter, var, environment variable,
model or source that does not exist, and Jinja that is not well formed.

## Why it matters

In plain Jinja an undefined name becomes nothing, and the MERGE runs without the condition that it should have held.
Here it is an error, before anything runs.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 'sales') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
```

## When to ignore it

Never: the model cannot be rendered. A name that may be missing is tested with `is defined`, a var takes a default:
`var('region', 'EMEA')`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile

SEVERITY: Severity = "error"


def check_file(file: LintedFile) -> Iterator[Hit]:
    """What rendering the file ran into."""
    for problem in file.problems:
        yield Hit(problem.place or Place(file.path, 1, 1), problem.message, problem.advice)
