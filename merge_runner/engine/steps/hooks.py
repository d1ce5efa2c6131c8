"""Runs the hooks of a model: the author's own statements before and after the model's.

A pre_hook prepares the MERGE after it. Where the table has that MERGE already (a retry, a batch that comes again), it
would take out of the table what no MERGE puts back, as one that deletes a day before the day is merged.
"""

from __future__ import annotations

import re
from pathlib import Path

from merge_runner.engine.context import NodeContext, WindowBatch
from merge_runner.engine.merge.idempotency import committed_earlier, has_committed
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_statement, set_confs
from merge_runner.engine.table_format.commit_metadata import of_hook, stamp_confs
from merge_runner.engine.tables.catalog import table_folder
from merge_runner.formats.rewordings import NOT_EMPTY
from merge_runner.plan.steps.merge import RunHook
from merge_runner.plan.steps.table import Layout

_COMMENTS = re.compile(r"(?:\s+|--[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_OF_THE_SESSION = re.compile(
    r"(?:set|reset|use|declare|select|values|show|describe|desc|explain|cache|uncache|clear|refresh|add|list"
    r"|(?:create(?:\s+or\s+replace)?|drop)\s+(?:global\s+)?temp(?:orary)?)\b",
    re.IGNORECASE,
)
"""How statements begin that change no table: the statements after a pre_hook may need what they define."""
_FILES_THERE = re.compile(r"file:(?://)?(?P<folder>/.*) has files")
"""The local folder in the message about a table that cannot be created (formats/rewordings.py)."""


def run_hook(step: RunHook, context: NodeContext) -> None:
    """Runs a hook, unless it prepares a MERGE that its table has already. Raises EngineError."""
    prepares = step.prepares
    if (
        prepares is not None
        and not is_of_the_session(step.sql)
        and has_merged(prepares.layout, context, replace=prepares.replace)
    ):
        context.output.response.pre_hooks_left_out = (context.output.response.pre_hooks_left_out or 0) + 1
        return
    try:
        if step.prepares is not None:  # its first run has yet to create the schema, in which a hook may create tables
            context.catalog.ensure_schema(context.session, step.prepares.layout.relation)
        _stamp(context, of_hook(context.stamp, step.when))
        run_statement(context.session, step.sql)
        _stamp(context, context.stamp)
    except EngineError as error:
        name_unknown_table(error)
        error.add_hint(f"in {step}")
        if step.when == "post_hook":
            error.add_hint(_is_written(context))
        error.place = error.place or step.place
        if _names_missing_table(step, context):
            raise _missing_table(step) from error
        raise


def name_unknown_table(error: EngineError) -> None:
    """Replace the message about files at the place of a new table where these are a Delta table.

    An embedded warehouse has a catalog in memory: a table that a hook has created without a location is a folder that
    later processes do not know. Delta's error is the same for any files.
    """
    match = _FILES_THERE.search(error.message) if error.code == NOT_EMPTY else None
    if match is None or not table_folder(Path(match["folder"])):
        return
    error.message = f"{match['folder']} is a Delta table that the catalog of this session does not know"
    error.hint = (
        "make it a model that the hook names by `ref`, or give CREATE TABLE an absolute `location` "
        "(docs/guides/hooks.md)"
    )


def _is_written(context: NodeContext) -> str:
    """Return that the model's own statement has committed, though its node is an error."""
    if context.output.response.operation != "MERGE":
        return "what the model writes is written"
    version = context.output.response.table_version
    at = "" if version is None else f" as version {version}"
    if isinstance(context.batch, WindowBatch):
        window = context.batch.due.window
        again = f"`--event-time-start {window.start_text} --event-time-end {window.end_text}` runs it again"
        return f"its MERGE is committed{at}: `merge-runner retry` leaves the batch out, its post_hooks too; {again}"
    return f"its MERGE is committed{at}: `merge-runner retry` leaves it out and runs the post_hooks"


def _names_missing_table(step: RunHook, context: NodeContext) -> bool:
    """Whether a hook names the model's own table, which its first run has yet to create."""
    if not step.names_this or step.prepares is None:
        return False
    return not context.catalog.adopt(context.session, step.prepares.layout)


def _missing_table(step: RunHook) -> EngineError:
    assert step.prepares is not None
    return EngineError(
        "no-table-yet",
        f"a {step.when} names {step.prepares.layout.relation.name}, the model's own table, which "
        "does not exist before the first run",
        hint=f"write {{% if is_incremental() %}} … {{% endif %}} around what needs it; in {step}",
        place=step.place,
    )


def is_of_the_session(sql: str) -> bool:
    """Whether a statement is known to leave all tables as they are: SET, a temporary view, a query."""
    comments = _COMMENTS.match(sql)
    return _OF_THE_SESSION.match(sql, comments.end() if comments else 0) is not None


def has_merged(layout: Layout, context: NodeContext, *, replace: bool) -> bool:
    """Return whether the MERGE will be left out, since an earlier invocation or run of the batch has committed it.

    `replace`: its table is made again. Raises EngineError.
    """
    # In any case: a hook may name the table, which an embedded warehouse has as a folder only.
    if not context.catalog.adopt(context.session, layout) or replace:
        return False
    table, format = layout.relation, layout.format
    if committed_earlier(context, table, format) is not None:
        return True
    if context.batch is None:
        return False
    return has_committed(context.session, table, context.table_format(format), context.batch)


def _stamp(context: NodeContext, stamp: str) -> None:
    set_confs(context.session, stamp_confs(stamp))
