"""Decides when a MERGE runs whether rows that change nothing are left out: by what earlier runs have copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from merge_runner.engine.response import LeftOut
from merge_runner.engine.table_format.commit_metadata import is_of_a_statement, same_node
from merge_runner.engine.table_format.protocol import PastMerge

if TYPE_CHECKING:
    from merge_runner.engine.context import NodeContext
    from merge_runner.plan.steps.merge import RunMerge
    from merge_runner.pruning.judge.unchanged_rows import UnchangedRows

SMALL_BYTES = 32 << 20
SMALL_FILES = 32
"""A target with fewer bytes and fewer files is rewritten faster than one asks what changes."""

LOOK_BACK = 10
"""Commits that are read to find a MERGE that shows whether rows are worth leaving out.

Once they are left out, no MERGE shows how many they would have been: after so many commits one MERGE runs without.
"""


def chosen(step: RunMerge, context: NodeContext, *, noticed: bool) -> UnchangedRows | None:
    """Return how the rows are found that are left out in this run; None: none are, and the response has the reason.

    `noticed`: a commit of another writer to the target during the MERGE would be noticed. Raises EngineError.
    """
    skipping = step.skipping
    if skipping is None:
        return None
    reason = skipping.left_out
    target = context.output.response.target
    if reason is None and target is not None and target.is_new:
        reason = "the target has no rows yet"
    if reason is None and not noticed:
        reason = "the target is read before the MERGE, and a commit of another process to it would not be noticed"
    if reason is None and skipping.auto:
        reason = _no_gain(step, context)
    if reason is None:
        return skipping.rows
    context.output.response.skip_unchanged = LeftOut(0, reason)
    return None


def _no_gain(step: RunMerge, context: NodeContext) -> str | None:
    table_format = context.table_format(step.judged.layout.format)
    state = table_format.state(context.session, step.target)
    if state.bytes < SMALL_BYTES and state.files < SMALL_FILES:
        return "the target is small"
    commits = table_format.commits(context.session, step.target, LOOK_BACK)
    own = (one for one in commits if same_node(one.stamp, context.stamp) and is_of_a_statement(one.stamp))
    past = [merge for merge in map(table_format.past_merge, own) if merge is not None]
    return None if pays(past) else "its last merges do not show that it would spare copying rows"


def pays(merges: Sequence[PastMerge]) -> bool:
    """Return whether the last merges of a table show that leaving rows out makes the next one faster.

    One of them has copied rows while most rows of its source changed nothing. None whose source rows nearly all changed
    something, as they do where the others are left out, had to copy half as many all the same: that is so where the
    rows that change are in all files.
    """
    for_nothing = [merge.rows_copied for merge in merges if _copies_for_nothing(merge)]
    if not for_nothing:
        return False
    return all(2 * merge.rows_copied < max(for_nothing) for merge in merges if not _copies_for_nothing(merge))


def _copies_for_nothing(merge: PastMerge) -> bool:
    if merge.rows_source is None:
        return False
    unchanged = merge.rows_source - merge.rows_changed
    return 2 * unchanged >= merge.rows_source and 2 * merge.rows_copied >= unchanged > 0
