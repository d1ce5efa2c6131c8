"""INSERT names more or fewer columns than values, a column is set twice, or one that takes no NULL gets none.

## What it does

Reports an INSERT whose columns and values differ in number, and a column that appears twice in one SET or INSERT. Names
compare without case (but with `spark.sql.caseSensitive: true` in the conf of the model or profile) and without the
target's alias; a struct and a field of it are the same column.

Where the columns of the target are known, it also reports a NOT NULL column that INSERT leaves out, or that SET or
INSERT gives NULL. One with a DEFAULT, an identity and a generated column get a value by themselves. What only a data
test `not_null` says of a column does not count.

## Why it matters

Spark stops, at the parser or at the analysis of the statement. Which of two values is the right one only the author
knows. Iceberg refuses a MERGE that leaves a NOT NULL column out; Delta each row that is inserted so, which may be weeks
later.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set t.name = s.name, region = s.region, Name = upper(s.name)
when not matched then insert *
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set name = upper(s.name), region = s.region
when not matched then insert *
```

## When to ignore it

Where the table was altered since the file was written that creates it. Else never: Spark refuses the statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.missing_values import missing_values
from merge_runner.pruning.layout.layout import UNKNOWN
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.predicate.tautology import Path, assigned, overlap

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile, LintedMerge

SEVERITY: Severity = "error"


def check_file(file: LintedFile) -> Iterator[Hit]:
    """INSERT lists of two lengths, and columns that are set twice."""
    if file.error is not None and file.error.kind == "insert":
        yield Hit(file.error.span, file.error.message, file.error.hint)
    if file.statement is None:
        return
    scope = Scope.of(file.statement, UNKNOWN)
    exact = file.may_be_case_sensitive
    for clause in file.statement.clauses:
        by_column: dict[str, list[Path]] = {}
        for assignment in clause.assignments:
            path = assigned(assignment, scope)
            former_paths = by_column.setdefault(assignment.column[-len(path)] if exact else path[0], [])
            overlapping = next((overlapping for overlapping in former_paths if overlap(overlapping, path)), None)
            former_paths.append(path)
            if overlapping is None:
                continue
            verb = "set" if clause.action == "update" else "inserted"
            name = ".".join(path)
            message = (
                f"{name} is {verb} twice"
                if overlapping == path
                else f"{name} and {'.'.join(overlapping)} are both {verb}"
            )
            yield Hit(assignment.span, message, "give each column one value")


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """Columns that take no NULL, and get one, or nothing: one hit for those that an INSERT leaves out."""
    missing = list(missing_values(merge.statement, merge.layout, merge.not_null, merge.scope, merge.source))
    for clause in merge.statement.clauses:
        own = [value for value in missing if value.clause is clause]
        left_out = ", ".join(value.column for value in own if value.null is None)
        if left_out:
            message = f"INSERT gives no value to {left_out}, NOT NULL in the target"
            yield Hit(clause.span, message, "insert a value, or give the column a default", replaces_here=("C013",))
        for value in own:
            if value.null is not None:
                message = f"{value.column} is NOT NULL in the target, and is set to NULL"
                yield Hit(value.null.span, message, "write a value, or drop NOT NULL", replaces_here=("C013",))
