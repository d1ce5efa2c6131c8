"""Which partitions of its source a MERGE with `reuse: partitions` has to read again."""

from __future__ import annotations

from collections.abc import Mapping

from merge_runner.engine.merge.changed_partitions import ChangedPartitions, changed_only
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.reuse.eligible import inputs_of
from merge_runner.run.reuse.stored_state import Stored, stored_input


def is_filtered(plan: NodePlan) -> bool:
    """Return whether a node is a MERGE whose source is filtered rows of one table."""
    return any(isinstance(step, RunMerge) and step.judged.reading.scan is not None for step in plan.steps)


def needed_partitions(
    plan: NodePlan, prepared: Prepared, before: Mapping[str, str], now: Mapping[str, str]
) -> ChangedPartitions | str:
    """Return the rows that the MERGE of a node needs, whose inputs had the states `before`; a text: why it needs all.

    It has run on these, and another run would have changed nothing.
    """
    changed = [name for name in {*before, *now} if before.get(name) != now.get(name)]
    merges = [step for step in plan.steps if isinstance(step, RunMerge)]
    if len(merges) != 1:
        return "it is no MERGE"
    reading = merges[0].judged.reading
    scan = reading.scan
    if scan is None:
        unknown = [".".join(parts) for parts in reading.unknown]
        more = "its source is more than filtered rows of one table"
        return f"the format of {', '.join(unknown)} is not declared" if unknown else more
    behind = {
        str(where)
        for item in inputs_of(plan)
        if item.relation.is_named_by(scan.parts, default=False)
        if (where := stored_input(item, prepared)) is not None
    }
    if set(changed) != behind or len(changed) != 1 or changed[0] not in before:
        return "more has changed than the rows of the one table that its source filters"
    partitions = Stored.of(changed[0], prepared).changed_partitions(before[changed[0]])
    return partitions if isinstance(partitions, str) else changed_only(merges[0], partitions)
