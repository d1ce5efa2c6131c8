"""The source of a MERGE that the engine leaves unread in its plan: a view of it, and what to say where none helps.

Delta does so with a subquery over the target in USING, unless it is in a view, whose query Spark resolves as a whole
(`formats/target_subqueries.py`); Iceberg with tables of Delta, whose rows are computed before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.sql import run_command
from merge_runner.formats.capabilities import Capabilities
from merge_runner.formats.target_subqueries import REWRITE, REWRITE_ROWS
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import splice
from merge_runner.merge.statement import MergeStatement
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.runtime_filter.target_subqueries import target_subqueries
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VIEW = "merge_runner_source_view"
"""A temporary view of the session, which runs one MERGE at a time."""

_CAUSE = (
    "Delta leaves such a subquery unread where Spark resolves its FROM in several passes: a table of files, a window "
    "function, `*` next to other columns, a function below another SELECT, a type that is converted"
)


@contextmanager
def source_as_view(session: SparkSession, sql: str, unread: EngineError) -> Iterator[str]:
    """Make a temporary view of the source of a MERGE, and give the MERGE that reads it.

    Raises the error `unread`, for which it is tried, where there can be no view: of two columns of one name.
    """
    statement = parse(sql)
    source, ctes = statement.source, statement.with_span
    query = f"{ctes.of(sql)}\n" if ctes is not None else ""
    alias = f" AS {quote(source.parts[-1])}" if source.alias is None and source.parts else ""
    edits = [(source.relation, f"{_VIEW}{alias}"), *([(ctes, "")] if ctes is not None else [])]
    text = f"CREATE OR REPLACE TEMPORARY VIEW {_VIEW} AS\n{query}SELECT * FROM {source.span.of(sql)}"
    try:
        run_command(session, text)
    except EngineError:
        raise unread from None
    try:
        yield splice(sql, edits)
    finally:
        with suppress(EngineError), engine_errors():  # the driver may be gone
            session.catalog.dropTempView(_VIEW)


def of_unread_source(error: EngineError, step: RunMerge, capabilities: Capabilities) -> EngineError:
    """Return the UNREADABLE error of a MERGE that no variant can run, with what is known of it."""
    merge = step.judged
    if capabilities.leaves_subqueries_unread:
        return of_unread_target(error, merge.statement, step.target.name, merge.is_files)
    if merge.source_pin.left_out is not None:
        error.hint = (
            f"merge-on-read can read it (`write.merge.mode`); it cannot be computed once: {merge.source_pin.left_out}"
        )
    return error


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
    subqueries = target_subqueries(statement, is_files)
    culprit = next(
        (subquery for subquery in subqueries if subquery.late is not None), subqueries[0] if subqueries else None
    )
    if culprit is None:
        # It is in the query of a view, or in what only Spark can read.
        return replace(error, message=message, hint=f"{_CAUSE}.\n    {REWRITE[0].upper()}{REWRITE[1:]}")
    if culprit.late is not None:
        message += f" whose FROM has {culprit.late}"
    rewrite = REWRITE if culprit.read.only_aggregates else REWRITE_ROWS
    hint = f"{_CAUSE}.\n    {rewrite[0].upper()}{rewrite[1:]}"
    return replace(error, message=message, hint=hint, statement=statement.text, offset=culprit.read.span.start)
