"""ON ties target and source by no equality.

## What it does

Reports an ON without an equality (`=` or `<=>`) between an expression of the target and one of the source: neither at
its top, nor in every leg of an OR. A source of one row, such as an aggregate without GROUP BY, is fine. Where lint
does not know which side a column belongs to, it is silent. Where ON is always true, it takes the place of P010.

An ON that is never true (`on false`, `on 1 = 0`, `… and null`) is reported where there is a WHEN MATCHED clause, which
never applies. Without one it is fine: an append, or with WHEN NOT MATCHED BY SOURCE a replacement of all rows.

Without `unique_key` dbt generates `ON FALSE` with WHEN MATCHED: an append, whatever `merge_update_columns` says. It is
an error where the model (or a folder's config) sets the strategy to merge, or columns to update. Where merge is only
the default of the adapter, as with dbt-databricks, the author may well mean an append, so it is a warning.

## Why it matters

Every row of the source is compared with every row of the target, and one target row is likely to match several source
rows, which Delta and Spark refuse when they update or delete it. Where ON is never true, no row of the target is
updated, and each run inserts all rows of the source again.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = date'2024-01-01' and s.dt = date'2024-01-01'
when matched then update set *
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = date'2024-01-01' and s.dt = date'2024-01-01'
when matched then update set *
```

## When to ignore it

Where a join by a range (`t.ts between s.valid_from and s.valid_to`) is meant and both tables are small.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.merge.forbidden import forbidden
from merge_runner.pruning.predicate.join_keys import is_never, is_tied

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """An ON that joins by no key."""
    statement = merge.statement
    if is_never(statement.on):
        if any(clause.kind == "matched" for clause in statement.clauses):
            effect = ", and each run inserts all rows of the source again" if merge.inserts else ""
            yield Hit(
                statement.on_span,
                f"ON is never true: WHEN MATCHED never applies{effect}",
                "join by the key; for an append leave WHEN MATCHED out",
            )
        return
    if merge.unknown_qualifiers:
        return  # which side is meant is not known
    if is_tied(statement.on, merge.scope) is not False or merge.source.is_unique(frozenset()):
        return
    if any(next(forbidden(condition), None) is not None for condition in statement.on):
        return  # C007 reports what may have been meant as the key
    always = all(condition.cause == "always-true" for condition in merge.judgement.on)
    target, source = statement.target.qualifier or "target", statement.source.qualifier or "source"
    yield Hit(
        statement.on_span,
        "ON has no equality between the target and the source",
        f"join by the key: {target}.key = {source}.key",
        replaces=("P001", "P010", "K001") if always else (),
    )
