"""Schema evolution takes a helper column of USING into the table.

## What it does
It looks at `MERGE WITH SCHEMA EVOLUTION` with `UPDATE SET *` or `INSERT *`, and reports columns of the source that only
steer the MERGE and that the declared columns of the target do not have: a number of `row_number()`, `rank()` or
`dense_rank()`, the columns of a change feed (`_change_type`, `_commit_version`, `_commit_timestamp`), and a constant
that a condition of WHEN asks for.

## Why it matters
The star takes every column of the source. A column that the table does not have is added to it, in all rows, and stays:
`rn` is 1 in each of them.

## Bad
```sql
merge with schema evolution into {{ this }} as t
using (
    select * from (
        select *, row_number() over (partition by id, dt order by ts desc) as rn from {{ source('raw', 's') }}
    ) where rn = 1
) as s
    on t.id = s.id and t.dt = s.dt
when not matched then insert *
```

## Good
```sql
merge with schema evolution into {{ this }} as t
using (
    select * except (rn) from (
        select *, row_number() over (partition by id, dt order by ts desc) as rn from {{ source('raw', 's') }}
    ) where rn = 1
) as s
    on t.id = s.id and t.dt = s.dt
when not matched then insert *
```

## When to ignore it
Where the table is to have the column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.visible_queries import computed_by
from merge_runner.sql.names import CHANGE_COLUMNS

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity

SEVERITY: Severity = "warning"
_OF_A_FEED = frozenset(CHANGE_COLUMNS)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit on USING where a star writes columns that only steer the MERGE."""
    statement = merge.statement
    stars = [clause for clause in statement.clauses if clause.star]
    if not statement.schema_evolution or not stars or not merge.layout.columns:
        return
    in_conditions = _columns_of_when(merge)
    names = [
        name
        for name in dict.fromkeys(_columns(merge))
        if merge.layout.has_column(name) is not True and _is_helper(merge, name, in_conditions)
    ]
    if names:
        yield Hit(
            stars[0].span,
            f"schema evolution adds {', '.join(names)} to the table: the star takes every column of USING",
            "leave it out of USING (`select * except (…)`), or list the columns in place of the star",
        )


def _columns(merge: LintedMerge) -> Iterator[str]:
    """The columns of the source whose names are known."""
    yield from (column.name for column in merge.source.known_columns if column.name)
    query = merge.statement.source.query
    tree = query.expression if query is not None else None
    if isinstance(tree, exp.Query):
        yield from (name for name in tree.named_selects if name and name != "*")


def _columns_of_when(merge: LintedMerge) -> set[str]:
    """The columns of the source, case folded, that conditions of WHEN ask for."""
    trees = [clause.condition.expression for clause in merge.statement.clauses if clause.condition is not None]
    columns = [ref for tree in trees if tree is not None for ref in merge.scope.columns(tree)]
    return {ref.column.casefold() for ref in columns if ref.side == "source"}


def _is_helper(merge: LintedMerge, name: str, in_conditions: set[str]) -> bool:
    if name.casefold() in _OF_A_FEED:
        return True
    values = list(computed_by(name, merge.statement, merge.lookup))
    return bool(values) and all(
        (isinstance(value, exp.Window) and isinstance(value.this, _RANKS))
        or (isinstance(value, exp.Literal | exp.Boolean) and name.casefold() in in_conditions)
        for value in values
    )
