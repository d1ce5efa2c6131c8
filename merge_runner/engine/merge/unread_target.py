"""Explains the error of a Delta MERGE whose USING reads the target in a subquery that Delta leaves unread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from merge_runner.engine.spark.errors import EngineError
from merge_runner.formats.capabilities import Capabilities
from merge_runner.formats.target_subqueries import REWRITE, REWRITE_ROWS
from merge_runner.merge.statement import MergeStatement
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.runtime_filter.source_pinning import Fixing
from merge_runner.pruning.runtime_filter.target_subqueries import target_subqueries

_CAUSE = (
    "Delta leaves such a subquery unread where Spark resolves its FROM in several passes: a table of files, a window "
    "function, `*` next to other columns, a function below another SELECT, a type that is converted"
)


def with_materialized_source(step: RunMerge, error: EngineError, capabilities: Capabilities) -> tuple[RunMerge, Fixing]:
    """Return a MERGE that UNREADABLE was raised of as it can run: its source is to be computed before.

    Raises the error, with what is known of it, where that is not possible.
    """
    if capabilities.leaves_subqueries_unread:
        judged = step.judged
        raise of_unread_target(error, judged.statement, step.target.name, judged.is_files) from error
    once = step.judged.fixing
    if once.left_out is not None:
        error.hint = f"merge-on-read can read it (`write.merge.mode`); it cannot be computed once: {once.left_out}"
        raise error
    bounding = replace(step.bounding, scan=None) if step.bounding is not None else None
    return replace(step, bounding=bounding), replace(once, scan=None)


def of_unread_target(
    error: EngineError,
    statement: MergeStatement,
    table: str,
    is_files: Callable[[tuple[str, ...]], bool] = lambda parts: False,
) -> EngineError:
    """Return the UNREADABLE error of a MERGE into the Delta table `table`, at the subquery, with what to write.

    `is_files` says of the parts of a name whether it is known to be a table of files.
    """
    message = f"Delta cannot read {table}, the table that the MERGE writes, in a subquery of USING"
    found = target_subqueries(statement, is_files)
    named = next((each for each in found if each.late is not None), found[0] if found else None)
    if named is None:
        # It is in the query of a view, or in what only Spark can read.
        return replace(error, message=message, hint=f"{_CAUSE}.\n    {REWRITE[0].upper()}{REWRITE[1:]}")
    if named.late is not None:
        message += f" whose FROM has {named.late}"
    rewrite = REWRITE if named.read.only_aggregates else REWRITE_ROWS
    hint = f"{_CAUSE}.\n    {rewrite[0].upper()}{rewrite[1:]}"
    return replace(error, message=message, hint=hint, statement=statement.text, offset=named.read.span.start)
