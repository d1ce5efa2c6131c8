"""Runs a MERGE whose source the engine leaves unread in its plan: over a view of it, or over its rows.

Delta does so with a subquery over the target in USING, unless it is in a view, whose query Spark resolves as a whole
(`formats/target_subqueries.py`); Iceberg with tables of Delta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.sql import run_command
from merge_runner.formats.capabilities import Capabilities
from merge_runner.formats.failures import UNREADABLE
from merge_runner.formats.target_subqueries import REWRITE, REWRITE_ROWS
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import splice
from merge_runner.merge.statement import MergeStatement
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.runtime_filter.source_pinning import Fixing
from merge_runner.pruning.runtime_filter.target_subqueries import target_subqueries
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Ran = TypeVar("_Ran")
_VIEW = "merge_runner_source_view"
"""A temporary view of the session, which runs one MERGE at a time."""

_CAUSE = (
    "Delta leaves such a subquery unread where Spark resolves its FROM in several passes: a table of files, a window "
    "function, `*` next to other columns, a function below another SELECT, a type that is converted"
)


def over_view(
    session: SparkSession,
    sql: str,
    error: EngineError,
    run: Callable[[SparkSession, str], _Ran],
    capabilities: Capabilities,
    on_view: Callable[[str], None] = lambda _: None,
) -> _Ran:
    """Return what `run` does for a MERGE that reads a view of its source, where the `error` is that it is unread.

    `on_view` receives the text before it runs. Raises EngineError: the same one where a view does not help.
    """
    if error.code != UNREADABLE or not capabilities.leaves_subqueries_unread:
        raise error
    with ExitStack() as views:
        try:
            text = views.enter_context(source_as_view(session, sql))
        except EngineError:  # such as of a source with two columns of one name
            raise error from None
        on_view(text)
        return run(session, text)


@contextmanager
def source_as_view(session: SparkSession, sql: str) -> Iterator[str]:
    """Make a temporary view of the source of a MERGE, and give the MERGE that reads it. Raises EngineError."""
    statement = parse(sql)
    source, ctes = statement.source, statement.with_span
    query = f"{ctes.of(sql)}\n" if ctes is not None else ""
    alias = f" AS {quote(source.parts[-1])}" if source.alias is None and source.parts else ""
    edits = [(source.relation, f"{_VIEW}{alias}"), *([(ctes, "")] if ctes is not None else [])]
    run_command(session, f"CREATE OR REPLACE TEMPORARY VIEW {_VIEW} AS\n{query}SELECT * FROM {source.span.of(sql)}")
    try:
        yield splice(sql, edits)
    finally:
        with suppress(EngineError), engine_errors():  # the driver may be gone
            session.catalog.dropTempView(_VIEW)


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
