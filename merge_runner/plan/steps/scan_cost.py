"""What a MERGE costs by the size of what it reads of its target."""

from __future__ import annotations

from merge_runner.formats.merge_plans import marks
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.pruning.judge.merge_analysis import JudgedMerge


def predict_full_scan(merge: JudgedMerge) -> Prediction | None:
    """Return the prediction of a MERGE that reads its whole target, of recorded size; None where that is not known."""
    layout = merge.layout
    if merge.judgement.verdict != "none" or layout.bytes is None:
        return None
    return Prediction(layout.files, layout.bytes, rewritten_bytes(merge, layout.bytes), None)


def rewritten_bytes(merge: JudgedMerge, size: int) -> int:
    """Return the size of the files that a MERGE may write again, of those of `size` bytes that it reads.

    Nothing where it only inserts, and where its format marks the rows that change.
    """
    layout = merge.layout
    marks_rows = layout.format is not None and marks(layout.format, layout.properties)
    return 0 if marks_rows or merge.statement.merge_class == "insert-only" else size
