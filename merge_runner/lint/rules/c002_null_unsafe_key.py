"""A key that may be NULL is joined by `=`, which NULL never satisfies.

## What it does
It looks at the equalities of ON between a column of the target and a column of the source that may be NULL, in a MERGE
with an INSERT clause. Whether a column may be NULL follows from its declaration and tests, and the query in USING (an
outer join, a CASE without ELSE, `where k is not null`). Where that is not known, the rule says nothing; nor does it
where a branch of a UNION gives NULL as the key and INSERT another column, as histories do for their new versions.

## Why it matters
`NULL = NULL` is not true, so a source row with a NULL key matches nothing and is inserted again on every run.

## Bad
```yaml
source: {region: string}
```
```sql
merge into {{ this }} as t
using (
    select c.id, c.dt, c.ts, c.amount, c.name, c.flag, r.region
    from {{ source('raw', 's') }} as c
    left join {{ source('raw', 's') }} as r on r.id = c.id
) as s
    on t.id = s.id and t.dt = s.dt and t.region = s.region
when not matched then insert *
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt and t.region <=> s.region
when not matched then insert *
```

## When to ignore it
Where the source holds no NULL there and nothing can say so: a `not_null` test or constraint on the upstream column is
better, since it is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

from merge_runner.lint.rule import Hit, RuleOptions
from merge_runner.project.schema.config import Names
from merge_runner.project.syntax.annotations import Key
from merge_runner.pruning.judge.insert_consistency import equated_columns, facts_of_clause, inserts_column
from merge_runner.pruning.logic.term import Col
from merge_runner.pruning.query.read_using import source_facts

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.pruning.judge.insert_consistency import EquatedColumns

SEVERITY: Severity = "warning"


@dataclass(frozen=True)
class Options(RuleOptions):
    """Columns that are known to hold no NULL."""

    not_null: Annotated[
        Names,
        Key(
            ("not-null",),
            description="Columns of sources that never hold NULL though nothing declares it: names, or glob patterns "
            "of names, in any case of letters.",
            examples=(["*_id"],),
        ),
    ] = ()

    def allows(self, column: str) -> bool:
        """Return whether the column is one of `not_null`."""
        return any(fnmatchcase(column.casefold(), pattern.casefold()) for pattern in self.not_null)


def check_merge(merge: LintedMerge, options: Options) -> Iterator[Hit]:
    """One hit for each equality whose source column may be NULL where rows are inserted."""
    for pair in equated_columns(merge.statement, merge.scope):
        column = merge.source.column(pair.source)
        if pair.null_safe or column is None or column.nullable is not True or options.allows(pair.source):
            continue
        if _inserts_null(merge, pair):
            target, source = merge.statement.target.qualifier, merge.statement.source.qualifier
            safe = f"{target}.{pair.target} <=> {source}.{pair.source}" if pair.bare else "<=> in place of ="
            yield Hit(
                pair.conjunct.span,
                f"`{pair.source}` of the source may be NULL, and rows with a NULL key are inserted again on every run",
                f"write {safe}, or leave out the rows where it is NULL{_test(merge, pair.source)}",
            )


def _test(merge: LintedMerge, name: str) -> str:
    """What declares the column free of NULL: its table's test, where that alone ends the finding."""
    statement, scan = merge.statement, merge.source_pin.scan
    parts = scan.parts if scan is not None else statement.source.parts
    table = merge.lookup(parts) if parts else None
    column = table.layout.column(name) if table is not None else None
    if table is None or table.layout.columns is None or column is None or column.nullable is False:
        return ""
    columns = tuple(replace(item, nullable=False) if item is column else item for item in table.layout.columns)
    tested = replace(table, layout=replace(table.layout, columns=columns))
    facts = source_facts(statement, lambda name_parts: tested if name_parts == parts else merge.lookup(name_parts))
    tested_column = facts.column(name)
    if tested_column is None or tested_column.nullable is True:
        return ""
    return (
        f"; where `{'.'.join(parts)}` never has one, declare it: `data_tests: [not_null]` on its column `{column.name}`"
    )


def _inserts_null(merge: LintedMerge, pair: EquatedColumns) -> bool:
    """Whether some INSERT clause takes the rows where the key is NULL, and the target does not refuse them."""
    key = Col(0, pair.source.casefold())
    target = merge.layout.column(pair.target)
    on_purpose = pair.source.casefold() in merge.source.nulled
    for clause in merge.statement.clauses:
        if clause.action != "insert" or (clause.condition is not None and clause.condition.expression is None):
            continue
        if facts_of_clause(clause, merge.scope, merge.source).never_null(key):
            continue
        refused = target is not None and target.nullable is False
        itself = inserts_column(clause, merge.scope, pair)
        if not (refused if itself else on_purpose):
            return True
    return False
