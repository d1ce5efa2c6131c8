"""A table has rows that an older text of its model has made.

## What it does

Reads how many commits of a model's table each text of the model has made, where the recorded catalog or the file of
`--layout` says it, and reports a model with commits of another text than the one that it has now. The text is the file
of the model and the macros of the project that it names.

## Why it matters

A MERGE keeps what earlier runs have written. A corrected calculation corrects the rows that it meets from now on, and
leaves all others as they are. `merge-runner diff --rebuild` shows whether that makes a difference, and a full refresh
writes all rows again.

## Bad

```yaml
files:
  catalog.yml: |
    version: 1
    tables:
      - name: shop.m
        format: delta
        commits: {model.shop.m: {b51c0d2e8f7a9461: 4}}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set amount = s.amount
```

## Good

```yaml
files:
  catalog.yml: |
    version: 1
    tables:
      - name: shop.m
        format: delta
        commits: {model.shop.m: {"0137a98f08dbb679": 31}}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set amount = s.amount
```

## When to ignore it

Where the edit has not changed what the statement writes, such as one of a comment, or where `diff --rebuild` has shown
no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedProject

SEVERITY: Severity = "info"


def check_project(project: LintedProject) -> Iterator[Hit]:
    """One hit for each model with commits of an older text."""
    for unique_id in sorted(project.models):
        node = project.graph.model(unique_id)
        rows = project.older_rows(node) if node.materialized == "merge" else None  # a table is written as a whole
        if rows is not None and rows.older:
            hint = "as its layout was recorded; `merge-runner debug --write-catalog` records it again"
            yield Hit(node.place, f"{node.name}: {rows}", hint, subject=node.name, model=node.name)
