"""A history closes the old version of a row, and its new version is not inserted.

## What it does
It looks for a history (slowly changing dimension, type 2) that is kept by one MERGE: ON joins by the key, it or WHEN
MATCHED asks for the open version (`t.is_current`, `t.valid_to is null`), an UPDATE closes it where the row has changed,
and an INSERT adds open versions under the key that ON compares. It is silent where the INSERT writes another column
than the one that ON joins by, where the model has a hook, and where a plain file holds another statement that writes:
that may insert the new versions.

## Why it matters
A source row does one thing. The row with the new version has the key of the open one, so it is MATCHED: it closes the
old version and is not inserted. The key has no open version until the source delivers the row again; where it only
delivers changes, the new version is lost.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.flag
when matched and t.name <> s.name then update set flag = false, ts = s.ts
when not matched then insert (id, dt, name, flag) values (s.id, s.dt, s.name, true)
```

## Good
A changed row occurs twice in the source: with its key, which closes the old version, and with a NULL key, which matches
nothing and inserts the new one.
```sql
{{ config(scan='full') }}

merge into {{ this }} as t
using (
    select id as merge_key, id, dt, name, ts from {{ source('raw', 's') }}
    union all
    select null as merge_key, n.id, n.dt, n.name, n.ts
    from {{ source('raw', 's') }} as n
    join {{ this }} as c on c.id = n.id and c.flag
    where not n.name <=> c.name
) as s
    on t.id = s.merge_key and t.flag
when matched and not t.name <=> s.name then update set flag = false, ts = s.ts
when not matched then insert (id, dt, name, flag) values (s.id, s.dt, s.name, true)
```

## When to ignore it
Where another job inserts the new versions, or the MERGE runs twice with the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.history import versions_closed_alone

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit on each clause that closes versions whose successors nothing inserts."""
    if not merge.inserts or merge.has_another_writer:
        return
    source = merge.statement.source.qualifier or "the source"
    for clause in versions_closed_alone(merge.statement, merge.layout, merge.scope, merge.source):
        yield Hit(
            clause.span,
            f"this closes the version of a changed row, and the new one is not inserted: its row of {source} matches "
            "the version that it closes",
            "add changed rows to USING once more with a NULL key (union all select null as merge_key, …), and join by "
            "merge_key",
        )
