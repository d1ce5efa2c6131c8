"""The warnings of a MERGE that has run: of columns that it added to its target, and of a table that it left empty."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from merge_runner.engine.context import NodeContext
from merge_runner.engine.spark.sql import analyse
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.runtime_filter.target_reads import target_reads
from merge_runner.relation import Relation


@contextmanager
def warnings_of_columns(step: RunMerge, context: NodeContext) -> Iterator[None]:
    """Once the MERGE inside has run, correct the node's warnings for the columns that it has added."""
    before = _evolving_columns(step, context)
    yield
    _forget_added(step.target, context)
    new = [name for name in _evolving_columns(step, context) if name not in before]
    if new:
        context.output.warnings.append(
            f"{step.target.name}: all branches have one schema: main has got {', '.join(new)} too, without values"
        )


def _forget_added(target: Relation, context: NodeContext) -> None:
    """Take back the warnings of missing columns that the MERGE has added."""
    if context.output.missing:
        real = {name.lower() for name in analyse(context.session, f"SELECT * FROM {target}").names}
        stale = {words for column, words in context.output.missing.items() if column.lower() in real}
        context.output.warnings[:] = [words for words in context.output.warnings if words not in stale]


def _evolving_columns(step: RunMerge, context: NodeContext) -> list[str]:
    """The columns of a target whose MERGE may add some on a branch; none elsewhere."""
    if context.branch is None or not step.judged.statement.schema_evolution:
        return []
    return analyse(context.session, f"SELECT * FROM {step.target}").names


def warn_of_empty_table(step: RunMerge, context: NodeContext) -> None:
    """Add a warning where the table was empty before the MERGE and still is, although the MERGE may insert rows.

    A condition on `(select max(ts) from {{ this }})` is NULL while the table is empty, and lets no row pass: every run
    then succeeds with nothing inserted.
    """
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
