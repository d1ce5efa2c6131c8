"""Refuses a MERGE that is predicted to cost more than its model or its build allows; nothing has been written then."""

from __future__ import annotations

from merge_runner.engine.context import NodeContext
from merge_runner.engine.spark.errors import EngineError
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.project.syntax.size import size_in_words

_HINT = "restrict the target in ON, so that fewer files are read (lint says what prunes)"


def refuse_costly(step: RunMerge, predicted: Prediction, context: NodeContext) -> None:
    """Raise EngineError where a MERGE would go beyond the limits of its model, or beyond what is left of the build's.

    What is not known counts as the whole target, which is the most that a MERGE reads.
    """
    limits, budget = step.cost_limits, context.scan_budget
    if limits is None and budget is None:
        return
    most, is_known = predicted, predicted.bytes is not None
    if not is_known:
        size = context.table_format(step.judged.layout.format).state(context.session, step.target).bytes
        most = Prediction(None, size, size, predicted.seconds)
    note = "" if is_known else "; what it reads is not known, so that the whole target counts"
    exceeded = list(limits.exceeded_by(most)) if limits is not None else []
    if exceeded:
        raise EngineError(
            "expect-merge",
            f"the MERGE is predicted to go beyond `expect_merge`, and did not run: {'; '.join(exceeded)}{note}",
            hint=f"{_HINT}; where this is meant, raise the limit in the model's `expect_merge`",
        )
    if budget is not None and most.bytes is not None and not budget.charge(context.node, most.bytes):
        raise EngineError(
            "scan-budget",
            f"the MERGE is predicted to read {size_in_words(most.bytes)} of its target, and did not run: with the "
            f"merges before it the build would read more than {size_in_words(budget.most)} (`--max-scanned`){note}",
            hint=f"{_HINT}; where this is meant, give a larger `--max-scanned`",
        )
