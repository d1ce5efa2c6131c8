"""The warnings of a MERGE that adds columns to its target (schema evolution)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from merge_runner.engine.context import NodeContext
from merge_runner.engine.spark.sql import analyse
from merge_runner.plan.steps.merge import RunMerge
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
