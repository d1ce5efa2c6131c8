"""USING holds new rows alone, and WHEN NOT MATCHED BY SOURCE changes all others.

## What it does
It follows the rows of USING to the tables that they come from, through CTEs, subqueries, views and inner joins, and
looks for what leaves out rows that are not new:

- a watermark over the target: `ts > (select max(ts) from {{ this }})`
- a window that ends now: `ts >= current_date() - interval 3 days`, `datediff(current_date(), dt) <= 3`
- the changes of a table (`changes('model')`, `table_changes(…)`, `t CHANGES FROM …`) and a batch of a stream
- rows that the target lacks, or has otherwise: an anti join, NOT EXISTS, EXCEPT, `t.hash <> s.hash`
- any other condition that the query has below `{% if is_incremental() %}`
- the window of a batch, `batch.start` and `batch.end`

It reports each WHEN NOT MATCHED BY SOURCE clause then that may change what is left out. A clause whose condition is
about the column of the filter, or takes a range such as `t.dt < '2020-01-01'`, decides by itself, and is fine. A filter
by a constant, `dt = current_date()` (a snapshot) and `valid_to > current_date()` (what is in force) are no increments.

It is a warning where the window is longer than a week, since a table may keep the last weeks on purpose, where a
condition on other columns may leave rows alone, and where LIMIT without ORDER BY leaves out any rows.

## Why it matters
A row that is not new has no row in USING, so it counts as NOT MATCHED BY SOURCE: the second run deletes, or marks as
gone, all that the first one has written. No error is raised. `expect_merge` with `max_deletes` or
`max_percent_touched` keeps such a run from being committed.

## Bad
```sql
{{ config(scan='full') }}

merge into {{ this }} as t
using (
    select * from {{ source('raw', 's') }}
    where dt > (select max(dt) from {{ this }})
) as s
    on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
when not matched by source then delete
```

## Good
```sql
{{ config(scan='full', expect_merge={'max_percent_deleted': 5}) }}

merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt
when matched then update set amount = s.amount
when not matched by source then delete
```

## When to ignore it
Where the table is to hold just the rows of the window, or of the last batch. `when not matched by source and t.dt <
current_date() - interval 3 days` says so, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.full_scan import window_filter
from merge_runner.lint.guard_fix import guard
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.batch_inputs import BatchInputs
from merge_runner.pruning.judge.source_increment import IsAdded, left_out_rows
from merge_runner.template.static.incremental_branches import incremental_branches

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each clause that changes rows which the source leaves out as they are not new."""
    if not merge.scans_by_source:
        return
    yield from _batch_hits(merge)
    for rows in left_out_rows(merge.statement, merge.scope, merge.lookup, _incremental_part(merge)):
        every = "every other row of the target" if rows.clause.condition is None else "all others that it takes"
        about = ", ".join(sorted(rows.increment.columns))
        limit = f"limit the clause to the same rows by a condition on {about}, or " if about else ""
        yield Hit(
            rows.clause.span,
            f"USING holds {rows.increment.words}, and this {rows.clause.action}s {every}",
            f"{limit}read all rows in USING; expect_merge with max_percent_touched refuses a run that changes too many",
            None if rows.every and rows.increment.certain else "warning",
        )


def _batch_hits(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each clause that does not name the time of the rows, where USING holds those of one batch."""
    batch, node, window = merge.file.batch, merge.file.node, window_filter(merge)
    if batch is None or node is None or window is None or not BatchInputs(merge, batch).sides:
        return
    time = (node.config.event_time or "").strip("`").casefold()
    for clause in merge.statement.clauses:
        tree = clause.condition.expression if clause.condition is not None else None
        if clause.kind != "not_matched_by_source" or (clause.condition is not None and tree is None):
            continue
        if tree is None or all(ref.column.casefold() != time for ref in merge.scope.columns(tree)):
            every = "every other row of the target" if tree is None else "all others that it takes"
            yield Hit(
                clause.span,
                f"USING holds the rows of one batch alone, and this {clause.action}s {every}",
                f"limit the clause to the window: `{window}`",
                None if tree is None else "warning",
                guard(merge, clause, [window]),
            )


def _incremental_part(merge: LintedMerge) -> IsAdded:
    """Return what says whether a part of the rendered text is the author's own, below `is_incremental()`."""
    template = merge.file.rendered
    branches = list(incremental_branches(template.source.text)) if template is not None else []

    def is_added(offset: int) -> bool:
        if template is None or not branches or not template.map.is_authored(offset, offset + 1):
            return False
        place = template.map.span(offset).start
        return any(branch.start <= place < branch.end for branch in branches)

    return is_added
