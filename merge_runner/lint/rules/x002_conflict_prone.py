"""A writer that is declared concurrent is likely to run into conflicts.

## What it does

Looks at merge models with `concurrent: true` and reports one on an unpartitioned Delta table, one whose ON names no
partition by a literal, one with WHEN NOT MATCHED BY SOURCE, and two on one table whose literals are not provably
disjoint. Proof are `=`, IN, BETWEEN and inequalities between a partition column and literals.

It also reports a MERGE into an Iceberg table that only inserts, unless ON restricts it to a partition of its own.

## Why it matters

Delta refuses a commit when another one has added files that the MERGE might have read. What it might have read are the
partitions that ON names by literals; with none, that is the whole table, and on an unpartitioned table it always is.
The statement has then worked for nothing, and runs again.

Iceberg checks a MERGE by what its ON says, too, but not one that only inserts: it is an append, which conflicts with
nothing. Two of them at the same time both commit, and a key that both insert is in the table twice, without an error.

## Bad

```yaml
config: {partition_by: [dt], concurrent: true}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt
when matched then update set *
```

## Good

```yaml
config: {partition_by: [dt], concurrent: true}
```

```sql
merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.id = s.id and t.dt = s.dt and t.dt = date'2024-01-01'
when matched then update set *
```

## When to ignore it

Where conflicts are rare enough for retries to cost less than waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.graph.graph import ModelNode, nodes_of
from merge_runner.graph.writers import unordered_writers
from merge_runner.lint.finding import Severity
from merge_runner.lint.rule import Hit
from merge_runner.pruning.judge.disjoint_writes import are_disjoint, partition_conditions

if TYPE_CHECKING:
    from sqlglot import exp

    from merge_runner.graph.graph import Node
    from merge_runner.lint.context import LintedMerge, LintedProject
    from merge_runner.pruning.logic.term import Term

SEVERITY: Severity = "warning"
_BOTH_COMMIT = "it only inserts, an append that conflicts with nothing: two at once both commit, each key twice"


def check_project(project: LintedProject) -> Iterator[Hit]:
    """Concurrent writers by themselves, then in pairs."""
    restricted: dict[str, tuple[LintedMerge, tuple[Term, ...]]] = {}
    for node in nodes_of(project.graph.nodes, ModelNode):
        if node.materialized != "merge" or not node.config.concurrent:
            continue
        merge = project.merges.get(node.unique_id)
        if merge is None:
            continue
        reason = _conflicts_with_any(merge)
        if reason:
            yield _hit(merge, node, reason)
        else:
            restricted[node.unique_id] = merge, partition_conditions(merge.statement.on, merge.scope, merge.layout)
    if len(restricted) < 2:
        return
    for first, second in unordered_writers(project.graph):
        if first.unique_id not in restricted or second.unique_id not in restricted:
            continue
        (_, first_conditions), (merge, second_conditions) = restricted[first.unique_id], restricted[second.unique_id]
        if not are_disjoint(first_conditions, second_conditions):
            reason = f"its partition literals are not provably disjoint from those of {first.name}"
            if _appends(merge):
                reason += f": {_BOTH_COMMIT}"
            yield _hit(merge, second, reason)


def _conflicts_with_any(merge: LintedMerge) -> str | None:
    """Why a writer conflicts with every other one, where that is certain."""
    partition_by, format = merge.layout.partition_by, merge.layout.capabilities
    if _appends(merge) and not (partition_by and _names_partition(merge) is not False):
        return _BOTH_COMMIT
    if partition_by is None or (not partition_by and (format is None or not format.conflicts_by_partition)):
        return None
    if not partition_by:
        return "its table has no partitions, so any file that another one adds conflicts"
    if any(clause.kind == "not_matched_by_source" for clause in merge.statement.clauses):
        return "WHEN NOT MATCHED BY SOURCE reads the whole table"
    return "ON names no partition by a literal" if _names_partition(merge) is False else None


def _appends(merge: LintedMerge) -> bool:
    """Whether the MERGE only inserts, which its format commits as an append."""
    format = merge.layout.capabilities
    return format is not None and not format.appends_conflict and merge.statement.merge_class == "insert-only"


def _names_partition(merge: LintedMerge) -> bool | None:
    """Whether a condition of ON is about partition columns of the target alone; None where that is unknown."""
    columns = {field.column.casefold() for field in merge.layout.partition_by or ()}
    restricts = {_restricts(merge, conjunct.expression, columns) for conjunct in merge.statement.on}
    return True if True in restricts else None if None in restricts else False


def _restricts(merge: LintedMerge, tree: exp.Expr | None, columns: set[str]) -> bool | None:
    """Whether a conjunct is about partition columns of the target alone; None where that is unknown."""
    if tree is None:
        return None
    references = list(merge.scope.columns(tree))
    if any(ref.side == "unknown" for ref in references):
        return None
    return {ref.side for ref in references} == {"target"} and any(
        ref.column.casefold() in columns for ref in references
    )


def _hit(merge: LintedMerge, node: Node, reason: str) -> Hit:
    span = merge.statement.on_span
    assert merge.file.rendered is not None
    return Hit(
        merge.file.rendered.place(span.start, span.end),
        f"{node.name} is declared concurrent, and {reason}",
        "add a literal on a partition column to ON that no other writer has, or take `concurrent` away",
        subject=f"{node.name}: {reason}",
    )
