"""What a MERGE commits once, however often it runs: a batch, or the changes of a table that it consumes."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.engine.context import Batch, NodeContext
from merge_runner.engine.merge.change_feed_source import Unread, define_changes, unread
from merge_runner.engine.merge.idempotency import recorded_batch
from merge_runner.plan.steps.inputs import Feed
from merge_runner.plan.steps.merge import RunMerge


@dataclass(frozen=True)
class Claim:
    """What a MERGE commits once, if it does: a batch, or `changes`, whose batch says up to which version.

    `skips` says why nothing is to run: the table has it already.
    """

    batch: Batch | None = None
    changes: Unread | None = None
    skips: str | None = None


def claim(step: RunMerge, context: NodeContext) -> Claim:
    """Return what the MERGE commits once, unless the table has it already. Raises EngineError."""
    if step.feed is not None:
        return _changes(step, step.feed, context)
    batch = context.batch
    if batch is None or context.output.past_record:
        # A table that was replaced keeps its record, which is of its former rows: the batch is merged without one.
        return Claim()
    recorded = recorded_batch(context.session, step.target, context.table_format(step.judged.layout.format), batch.app)
    return Claim(skips=str(batch)) if recorded is not None and recorded >= batch.id else Claim(batch)


def _changes(step: RunMerge, feed: Feed, context: NodeContext) -> Claim:
    """Give the view of a feed the changes that the table has not consumed.

    A MERGE that changes nothing commits all the same, and with it what was consumed: an Iceberg table (1.12.0) gets a
    snapshot, copy-on-write or merge-on-read, a Delta table (4.4.0) a version that holds the record alone.
    """
    changes = unread(context, feed, step.target, step.judged.layout.format)
    if changes.none:
        return Claim(skips=f"no changes of {feed.table.name} since version {changes.last}")
    define_changes(context.session, feed, changes)
    return Claim(changes.batch, changes)
