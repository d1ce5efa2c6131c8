"""An OR mixes target and source, or has a leg that cannot prune.

## What it does
Reports a condition of ON that is an OR at its top and that therefore skips no file: a leg names the source, or one
leg cannot prune, so that all files have to be kept for it. On Delta a partition column in one leg and a data column
in the other do not prune either. What all legs have in common counts:
`(t.id = s.id and t.dt = A) or (t.id = s.id and t.dt = B)` prunes. It is a warning where another filter or a bound
prunes, or may. An OR of join keys alone (`t.id = s.id or t.name = s.name`) has nothing to lose, and is reported only
where the whole target is scanned and that is not meant.

It takes the place of [P001](P001.md), with its severity, where the whole target is scanned.

## Why it matters
A file may be skipped only if every leg of the OR rules it out.

## Bad
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and (t.dt = date'2024-01-01' or t.dt = s.dt)
when matched then update set amount = s.amount
```
```yaml
config: {partition_by: [dt], bounds: 'off'}
```

## Good
```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt in (date'2024-01-01', date'2024-01-02')
when matched then update set amount = s.amount
```

## When to ignore it
Where the OR is what the keys are like, and another filter prunes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Severity
from merge_runner.lint.full_scan import full_scan_severity, scanned
from merge_runner.lint.rule import Hit
from merge_runner.pruning.predicate.normalize import predicate
from merge_runner.pruning.predicate.predicate import Comparison, Predicate, Some, parts_of
from merge_runner.pruning.skipping.pruning_result import side_of

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge

SEVERITY: Severity = "error"
_MIXED = "a leg of the OR names the source, so the whole skips no file"
_MIXED_CAUSES = ("or", "join", "both-sides", "source-only")
"""The message for a mixed OR; where all legs have a condition in common, the analysis names that one."""


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """ORs at the top of a conjunct that do not prune."""
    if merge.scans_by_source:
        return
    is_scanned = merge.judgement.verdict == "none"
    for conjunct, condition in zip(merge.statement.on, merge.judgement.on, strict=True):
        if condition.cause not in _MIXED_CAUSES:
            continue
        legs = _legs(predicate(conjunct.expression, merge.scope))
        mixed = condition.side == "both" and any(side_of(leg) in ("both", "source") for leg in legs)
        if condition.cause != "or" and not mixed:
            continue
        reason, hint = condition.reason, "give every leg a condition that prunes, or restrict the target next to the OR"
        if mixed:
            reason, hint = _MIXED, "restrict the target by a separate condition, next to the OR"
        severity: Severity | None = None if is_scanned else "warning"
        if mixed and not any(_restricts(leg) for leg in legs):
            if not is_scanned or merge.scans_all_on_purpose:
                continue
            if any(_both_null(leg) for leg in legs):
                hint = f"write <=> for an equality that takes NULL for equal; {hint}"
            if merge.file.node is None:  # no filter of the author's is lost
                severity = full_scan_severity(merge)
        message = f"the OR defeats pruning: {reason}{scanned(merge)}"
        yield Hit(condition.span, message, hint, severity=severity, replaces=("P001",))


def _legs(shape: Predicate) -> tuple[Predicate, ...]:
    """The legs of an OR; without what they have in common."""
    return next((part.parts for part in parts_of(shape) if isinstance(part, Some)), ())


def _restricts(leg: Predicate) -> bool:
    """Whether a leg asks something of the target alone."""
    return not _both_null(leg) and any(side_of(part) == "target" for part in parts_of(leg))


def _both_null(leg: Predicate) -> bool:
    """Whether it is what follows `t.k = s.k or`: `t.k is null and s.k is null`."""
    parts = parts_of(leg)
    null = [side_of(part) for part in parts if isinstance(part, Comparison) and part.operator == "is null"]
    return len(null) == len(parts) and {"target", "source"} <= set(null)
