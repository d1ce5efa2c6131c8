"""A WHEN clause can never be reached.

## What it does

Reports a clause that follows an unconditional one of its kind, one whose condition is always true, or
one that already takes every row that this one would take: its conditions are a part of this clause's. In Python also a
call such as `builder.whenMatchedDelete()` whose result is thrown away (a warning): a builder of Delta is not changed by
its methods, they return another one.

It also reports a clause whose own condition is never true:

- it compares with NULL: `t.hash = null`, `t.region not in ('a', null)`
- it contradicts itself: `s.ts > s.ts`, `s.hash <> s.hash`
- its conditions contradict each other: `t.hash = s.hash and t.hash <> s.hash`, `s.n > 10 and s.n < 5`
- ON demands the opposite: `t.id <> s.id` or `s.id is null` below `on t.id = s.id`
- it is a constant, such as `1 = 0`: a warning. One that a template puts there is meant.

## Why it matters

The first clause of a kind whose condition holds takes the row, and no other one sees it. Spark refuses a clause after
an unconditional one (`NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION`); the other two run, and silently do nothing. A condition
that is never true, as NULL is equal to nothing and a row equal to itself, is most often a typo for the other side's
column: no row is updated, and no error is raised.

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

Never: put the clause in front, correct its condition, or remove it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.never_true import Cause, dead_clauses
from merge_runner.pruning.predicate.tautology import conjunct_words, truth

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile, LintedMerge
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
    for place in file.discarded:
        message = "what this call returns is thrown away: its clause is no part of the MERGE"
        hint = "a builder of Delta does not change, each call returns a new one: `builder = builder.when…(…)`"
        yield Hit(place, message, hint, severity="warning")
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


_CAUSES: dict[Cause, tuple[str, str]] = {
    "constant": ("", "write the condition that is meant, or remove the clause"),
    "null": (", as nothing is equal to NULL, nor different from it", "write IS NULL, or IS NOT NULL"),
    "itself": (" of any row", "compare with the column of the other table"),
    "conditions": (" with the other conditions of the clause", "join them by OR, or remove the clause"),
    "on": (" where ON holds", "remove the clause, or take the key out of its condition"),
}


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each clause whose own condition is never true."""
    for dead in dead_clauses(merge.statement, merge.scope, merge.names_window):
        if dead.cause == "constant" and merge.written_at(dead.conjunct.span) is None:
            continue
        why, hint = _CAUSES[dead.cause]
        yield Hit(
            dead.clause.span,
            f"no row reaches this {_WORDS[dead.clause.kind]}: `{' '.join(dead.conjunct.text.split())}` is never true"
            f"{why}",
            hint,
            "warning" if dead.cause == "constant" else None,
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
        if self._takes_all:
            return "has a condition that is always true"
        if clause.condition is None:
            return None
        self._takes_all = truth(clause.condition.expression) is True
        own = conjunct_words(clause.condition)
        before = [former for words in own for former in self._by_conjunct.get(words, ()) if former <= own]
        self._by_conjunct.setdefault(min(own), []).append(own)
        if not before:
            return None
        return "has the same condition" if own in before else "has a part of its conditions"
