"""Runs the MERGE of a batch, unless the table has it already."""

from __future__ import annotations

from merge_runner.engine.context import Batch, NodeContext
from merge_runner.engine.merge.execute import run_merge
from merge_runner.engine.merge.idempotency import recorded_batch, skipped
from merge_runner.plan.steps.merge import RunMerge


def merge_batch(step: RunMerge, context: NodeContext, batch: Batch) -> None:
    """Runs the MERGE stamped with the batch; `context.no_op` says where the table has it, or a later one, already.

    Raises EngineError.
    """
    if context.past_record:
        # The table is empty, and its record is of what it was before: it holds for what comes now as well.
        context.batch = None
        run_merge(step, context)
    else:
        recorded = recorded_batch(context.session, step.target, step.judged.layout.format, batch.app)
        if recorded is not None and recorded >= batch.id:
            skipped(context, batch)
        else:
            run_merge(step, context)
    context.response.batch_id = batch.id
