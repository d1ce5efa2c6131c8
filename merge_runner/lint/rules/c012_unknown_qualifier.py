"""A name is qualified by what is neither the target nor the source.

## What it does
Reports a name in ON, SET, VALUES or a condition of WHEN, such as `cdr.id`, whose first part is neither the target nor
the source of the MERGE, once for each table that is meant: a misspelled alias, the name of a table that has an alias, a
table or alias inside the query of USING, and a column that SET or INSERT qualifies by the source.

The key of SET is looked for in the target alone: `s.name = …` sets a field where the target has a struct `s`, whatever
the alias of the source is. Where the columns of the target are not all known, that is a warning.

A column with fields (`address.city`) is not reported. Where the columns of target or source are not all known, any word
may be such a column, so only what shows by itself is reported: a name that an alias hides, a table inside USING, an
alias with one letter wrong. After a query without an alias in USING nothing is reported: the names inside it are seen.

## Why it matters
Spark refuses the statement (`UNRESOLVED_COLUMN`), but only when it runs. A table that has an alias can be called by
nothing else.

## Bad
```sql
merge into {{ this }} as gold
using {{ source('raw', 's') }} as cdf
    on gold.id = cdr.id and gold.dt = cdf.dt
when matched then update set name = cdf.name
```

## Good
```sql
merge into {{ this }} as gold
using {{ source('raw', 's') }} as cdf
    on gold.id = cdf.id and gold.dt = cdf.dt
when matched then update set name = cdf.name
```

## When to ignore it
Where a column with fields is called like a table of the statement, and the columns of the tables are not declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.pruning.judge.unknown_qualifiers import UnknownQualifier

SEVERITY: Severity = "error"


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """One hit for each such qualifier, at its first place."""
    target, source = merge.statement.target.qualifier, merge.statement.source.qualifier
    for qualifier in merge.unknown_qualifiers:
        message, severity = f"{qualifier.word} is neither {target} nor {source}", SEVERITY
        if qualifier.evidence == "the source in SET":
            message = f"{qualifier.word} is the source: SET and INSERT name columns of the target"
            severity = "warning" if _may_be_struct(merge, qualifier.word.casefold()) else SEVERITY
        elif qualifier.count > 1:
            message += f" ({qualifier.count} names)"
        yield Hit(qualifier.span, message, _hint(qualifier), severity, subject=qualifier.word)


def _may_be_struct(merge: LintedMerge, word: str) -> bool:
    """Whether the target may have a struct with this name, of which SET sets fields; INSERT can name none."""
    inserts = (clause for clause in merge.statement.clauses if clause.action == "insert")
    inserted = {
        assignment.column[0].casefold()
        for clause in inserts
        for assignment in clause.assignments
        if len(assignment.column) > 1
    }
    return merge.layout.has_column(word) is None and word not in inserted


def _hint(qualifier: UnknownQualifier) -> str | None:
    if qualifier.evidence == "the source in SET":
        return f"write {qualifier.column}"
    if qualifier.evidence == "hidden by an alias":
        return f"the alias {qualifier.suggestion} hides that name: write {qualifier.suggestion}.{qualifier.column}"
    if qualifier.evidence == "inside USING":
        return (
            f"it is a name inside USING: select the column there, and write {qualifier.suggestion}.{qualifier.column}"
        )
    return f'did you mean "{qualifier.suggestion}"?' if qualifier.suggestion else None
