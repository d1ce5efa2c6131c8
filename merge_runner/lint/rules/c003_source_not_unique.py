"""Several rows of the source may have the same key.

## What it does
It asks whether the columns of the source that ON equates with the target hold a key that is proven to be unique: by
GROUP BY, DISTINCT, `row_number() … = 1`, literal VALUES, or a `unique_key` or `unique` test of the model or source that
they come from, through subqueries, CTEs, views and joins that cannot multiply rows. Rows that a branch of a UNION gives
a NULL key, as the new versions of a history have it, match nothing and need not be unique. A query that lint cannot
read, and in a plain file a table of which nothing is known, by itself, filtered, in a view or in such a history, are
not judged, and neither is one with a misspelled name (C009) or an ON without a key (C004). A hash of 64 bits or more
over all parts of a key counts as the key.

Whatever makes the source unique, it also reports keys that meet in ON:

- by a function of the source's side: `lower(s.k)`, `trim(s.k)`, `date(s.ts)`, `concat(s.a, s.b)` without a separator,
  `concat_ws('-', s.a, s.b)` and hashes of it where a part may be NULL
- by its type: a text compared with a number, where `'7'` and `'007'` are one
- by an OR of two keys, `t.id = s.id or t.code = s.code`

## Why it matters
When two source rows match one target row, the MERGE fails (`MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW`), whatever the
WHEN conditions say. When two source rows with one key match nothing, both are inserted, without an error.

## Bad
```sql
merge into {{ this }} as t
using (select * from {{ source('raw', 's') }}) as s
    on t.id = s.id and t.dt = s.dt
when matched then update set *
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using (
    select id, dt, region, ts, amount, name, flag
    from (
        select *, row_number() over (partition by id, dt order by ts desc) as nth
        from {{ source('raw', 's') }}
    )
    where nth = 1
) as s
    on t.id = s.id and t.dt = s.dt
when matched then update set *
when not matched then insert *
```

## When to ignore it
Where the loader makes keys unique. Say so to lint by a `unique` test, or by the `unique_key` of the model that USING
reads: both are checked as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.insert_consistency import matching_columns
from merge_runner.pruning.judge.merged_keys import either_key, merged_keys
from merge_runner.pruning.predicate.join_keys import is_never, is_tied
from merge_runner.pruning.query.passed_on import passed_on

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.merge.statement import Conjunct

SEVERITY: Severity = "warning"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit on USING where its rows are not proven to be unique on the keys of ON."""
    statement = merge.statement
    harmed = merge.inserts or any(clause.kind == "matched" for clause in statement.clauses)
    if not harmed or statement.merge_class == "delete-only" or not merge.source.readable:
        return
    if is_never(statement.on) or is_tied(statement.on, merge.scope) is False:
        return  # C004 reports that there is no key
    matching = matching_columns(statement, merge.scope, merge.source)
    if matching is None:
        return
    or_of_keys = either_key(statement, merge.scope)
    if not (matching.columns or matching.inside):
        if or_of_keys is not None and not merge.source.is_unique(frozenset()):
            yield _hit_of_or(or_of_keys)
        return
    keys = (*matching.columns, *matching.inside)
    folded = frozenset(key.casefold() for key in keys)
    source = merge.source
    if any(source.has_column(key) is False for key in keys) or merge.unknown_in_using:
        return  # C009 reports the name that is wrong
    if source.is_unique(folded) or (not matching.null_safe and source.is_unique_not_null(folded)):
        merged = merged_keys(matching, statement, merge.layout, merge.scope, source, merge.lookup)
        if merged is not None:
            yield Hit(
                statement.on_span,
                f"{merged.by} makes different values of {', '.join(merged.columns)} one key: "
                "several rows of the source may meet one target row",
                "compute the key in USING and keep one row of each, or compare the columns themselves",
            )
        return
    if or_of_keys is not None and or_of_keys.expression is not None:
        legs = {ref.column.casefold() for ref in merge.scope.columns(or_of_keys.expression) if ref.side == "source"}
        if source.is_unique(folded | legs):
            yield _hit_of_or(or_of_keys)
            return
    if _is_unheard_of(merge, frozenset() if matching.null_safe else folded):
        return
    key_list = ", ".join(keys)
    key = "the key of ON" if matching.inside else key_list
    yield Hit(
        statement.source.span,
        f"nothing makes the source unique on {key_list}: several of its rows may meet one target row",
        f"keep one row per key (row_number() over (partition by {key} order by …) = 1, or GROUP BY), "
        "or declare unique_key or a unique test upstream",
    )


def _hit_of_or(conjunct: Conjunct) -> Hit:
    return Hit(
        conjunct.span,
        f"`{' '.join(conjunct.text.split())}` joins by one key or another: two rows of the source may meet one target "
        "row, whatever makes the source unique",
        "join by one key: find the other one's row in USING, or write two MERGEs",
    )


def _is_unheard_of(merge: LintedMerge, keys: frozenset[str]) -> bool:
    """Whether the source of a plain file passes on the rows of a table of which nothing at all is known.

    Rows with NULL in one of the columns `keys` do not count.
    """
    if merge.file.node is not None:
        return False
    table = passed_on(merge.statement, merge.lookup, keys)
    return table is not None and merge.lookup(table) is None
