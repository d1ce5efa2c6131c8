"""ON filters the target, and rows that the filter leaves out are inserted again.

## What it does
It looks at the conditions of ON that restrict the target by something else than the source, such as
`t.dt >= '2024-01-01'`, and asks of each INSERT clause whether every row that it inserts satisfies them. That is so
where the source is restricted alike or narrower (in USING, in a CTE or view that it names, through an equality), where
the clause's own condition says it, and where the clause inserts a constant that satisfies the filter. In a dbt project
the filters are `incremental_predicates`, and the source is the model's query. In a plain file, a source of which
nothing is known is not judged: it may be a view that filters. Where the clause inserts a constant that does not satisfy
the filter, the source does not matter: that is a warning there, since a view may also compare with the target.

A source that leaves out each row whose key is in the target is fine, whatever the filter: an anti join with the target,
NOT EXISTS, NOT IN, or an outer join that finds nothing, by columns that ON joins by and the INSERT writes.

## Why it matters
A source row outside of the filter matches nothing, even when its row is in the table already. So it counts as NOT
MATCHED and is inserted, again on every run. No error is raised: the table fills with duplicates. A condition on the
source in ON (`s.dt >= '2024-01-01'`) does not help, since rows that it leaves out are NOT MATCHED too.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt >= date'2024-01-01'
when matched then update set *
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using (select * from {{ source('raw', 's') }} where dt >= date'2024-01-01') as s
    on t.id = s.id and t.dt >= date'2024-01-01'
when matched then update set *
when not matched then insert *
```

## When to ignore it
Where you know that the source holds no row outside of the filter, and cannot say so in SQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.insert_consistency import contradicted_filters, one_sided_filters
from merge_runner.pruning.judge.new_keys import inserts_new_keys_alone

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.merge.statement import Conjunct

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """One hit for each filter of the target that rows to be inserted need not satisfy."""
    statement = merge.statement
    if not merge.inserts or inserts_new_keys_alone(statement, merge.scope, merge.source):
        return
    facts = (statement, merge.layout, merge.scope, merge.source)
    is_unknown = merge.has_unknown_dbt_query or merge.may_read_unknown_view
    never = list(contradicted_filters(*facts))
    for conjunct in never:
        yield Hit(
            conjunct.span,
            f"no row that is inserted satisfies `{_text(conjunct)}`: no run finds it again, and each inserts it again",
            "insert a value that satisfies the condition, or leave it out of ON",
            "warning" if is_unknown else None,
        )
    if is_unknown:
        return
    for conjunct in one_sided_filters(*facts):
        if conjunct not in never:
            is_window = merge.names_window(conjunct.expression)
            whose = ", by {{ batch.start }} and {{ batch.end }}," if is_window else ""
            yield Hit(
                conjunct.span,
                f"`{_text(conjunct)}` filters the target only: "
                f"source rows outside of it are inserted again on every {'batch' if is_window else 'run'}",
                f"put the same filter{whose} on the source, inside USING or as WHEN NOT MATCHED AND …; in ON it does "
                "not help",
                variant="batch" if is_window else "",
            )


def _text(conjunct: Conjunct) -> str:
    return " ".join(conjunct.text.split())
