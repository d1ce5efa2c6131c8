"""Warns of a MERGE that ran without an error, and after which its table has never held a row.

A condition on `(select max(ts) from {{ this }})` is NULL while the table is empty, and lets no row pass: every run then
succeeds with nothing inserted.
"""

from __future__ import annotations

from merge_runner.engine.context import NodeContext
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.runtime_filter.target_reads import target_reads


def warn_of_empty_table(step: RunMerge, context: NodeContext) -> None:
    """Add a warning where the table was empty before the MERGE and still is, although the MERGE may insert rows."""
    target, figures, statement = context.output.response.target, context.output.response.merge, step.judged.statement
    if figures is None or figures.rows_inserted != 0:
        return
    inserts = any(clause.action == "insert" for clause in statement.clauses)
    was_empty = (target is not None and target.is_new) or figures.files_total == 0
    if not inserts or not was_empty or context.output.no_op is not None or step.feed is not None:
        return
    source = "its source held no rows" if figures.rows_source == 0 else "the MERGE inserted no row"
    advice = "look at what its inputs hold, and at the filters in USING"
    if target_reads(statement):
        advice = (
            "USING reads the table itself, and max() of an empty table is NULL, which no row passes: put that "
            "condition into {% if is_incremental() %} … {% endif %}, or write coalesce(max(…), …)"
        )
    context.output.warnings.append(f"{step.target.name} is empty after its first run: {source}; {advice}")
