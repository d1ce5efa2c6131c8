"""A noqa that hides nothing.

## What it does

Looks, after all other rules, at the comments that hide findings: it reports one that hides nothing, one that names a
rule that does not exist, and one that cannot be read.

A comment `-- noqa: P001, C003 -- reason` hides findings that begin or end on its line; alone on a line, it also hides
those that reach over that line. `-- merge-runner: noqa: P001` anywhere in a file hides them in the whole file. It may
name codes, names (`unbounded-target`) and beginnings of codes (`P`); without a colon it hides everything.
`/* noqa: … */`, `{# noqa: … #}` and, in YAML, `# noqa: …` do the same.

A code is reported only if its rule is selected and has looked at the file, and never inside a Jinja block that may not
be rendered. Codes of SQLFluff, which reads the same comments, are left alone.

## Why it matters

A comment that outlives its finding hides the next one on that line, which may be a real fault. A misspelt code never
hid anything.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id  -- noqa: C004 -- there was no equality here once
when matched then update set amount = s.amount
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set amount = s.amount
```

## When to ignore it

While another tool reads the same comments and it is not clear whose each is. A comment cannot hide this rule, settings
can.
"""

from __future__ import annotations

from merge_runner.lint.finding import Severity

SEVERITY: Severity = "warning"
