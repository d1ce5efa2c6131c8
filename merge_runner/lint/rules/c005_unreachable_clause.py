"""A WHEN clause can never be reached.

## What it does

Reports a clause that follows an unconditional one of its kind, one whose condition is always true, or
one that already takes every row that this one would take: its conditions are a part of this clause's.

## Why it matters

The first clause of a kind whose condition holds takes the row, and no other one sees it. Spark refuses a clause after
an unconditional one (`NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION`); the other two run, and silently do nothing.

## Bad

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
when matched and s.flag then delete
```

## Good

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched and s.flag then delete
when matched then update set *
```

## When to ignore it

Never: put the clause in front, or remove it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile
    from merge_runner.merge.statement import Clause
    from merge_runner.pruning.predicate.tautology import Words

SEVERITY: Severity = "error"
_WORDS = {
    "matched": "WHEN MATCHED",
    "not_matched": "WHEN NOT MATCHED",
    "not_matched_by_source": "WHEN NOT MATCHED BY SOURCE",
}


def check_file(file: LintedFile) -> Iterator[Hit]:
    """Clauses that no row can reach."""
    if file.error is not None and file.error.kind == "unreachable":
        yield Hit(file.error.span, file.error.message, file.error.hint)
    if file.statement is None:
        return
    former: dict[str, _Former] = {}
    kinds = Counter(clause.kind for clause in file.statement.clauses)
    for clause in file.statement.clauses:
        if kinds[clause.kind] == 1:
            continue
        reason = former.setdefault(clause.kind, _Former()).covers(clause)
        if reason:
            yield Hit(
                clause.span,
                f"no row reaches this {_WORDS[clause.kind]}: a former one {reason}",
                "put it in front of that clause, or remove one of the two",
            )


class _Former:
    """The clauses of one kind that precede the one that is looked at."""

    def __init__(self) -> None:
        self._takes_all = False
        self._by_conjunct: dict[Words, list[frozenset[Words]]] = {}
        """The conditions, each by the first of its conjuncts."""

    def covers(self, clause: Clause) -> str | None:
        """Why every row that the clause could take is taken before; None where that is not certain.

        From then on the clause is a former one itself.
        """
        from merge_runner.pruning.predicate.tautology import conjunct_words, truth

        if self._takes_all:
            return "has a condition that is always true"
        if clause.condition is None:
            return None
        self._takes_all = truth(clause.condition.expression) is True
        own = conjunct_words(clause.condition)
        before = [other for words in own for other in self._by_conjunct.get(words, ()) if other <= own]
        self._by_conjunct.setdefault(min(own), []).append(own)
        if not before:
            return None
        return "has the same condition" if own in before else "has a part of its conditions"
