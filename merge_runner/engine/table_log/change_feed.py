"""The rows that a statement has changed in a table, as the table's format reports them.

Delta keeps them where a property of the table says so. Iceberg computes them from the files that a snapshot has added
and removed: rows that were only copied are left out, and so is an update that leaves a row as it was. It cannot where
delete files mark the old rows (Iceberg 1.12.0: "Delete files are currently not supported in changelog scans").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from merge_runner.engine.spark.sql import run_command
from merge_runner.engine.table_log.iceberg_procedures import call_procedure
from merge_runner.engine.table_log.table_state import table_state
from merge_runner.formats import Format
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHANGE_TYPE = "_change_type"
_VIEW = "merge_runner_changes"


@contextmanager
def changed_rows(
    session: SparkSession, table: Relation, table_format: Format, since: int | None, key: Sequence[str]
) -> Iterator[str]:
    """Return a relation of the changes after the version `since` (None: an Iceberg table without a snapshot).

    The rows have the columns of the table and `_change_type`: `insert`, `update_preimage`, `update_postimage`,
    `delete`. Iceberg knows rows that are gone and rows that are new; where there is one of each with the same `key`
    columns, they are the two sides of an update. Raises EngineError.
    """
    newest = table_state(session, table, table_format).version
    if newest is None or newest == since:  # nothing was committed: there is no such version
        yield f"(SELECT *, '' AS {CHANGE_TYPE} FROM {table} WHERE false)"
    elif since is not None and table_format == "delta":
        yield f"table_changes({string_literal(str(table))}, {since + 1})"
    else:
        _make_view(session, table, since, newest)
        try:
            yield f"(SELECT * EXCEPT ({CHANGE_TYPE}), {_change_type(key)} AS {CHANGE_TYPE} FROM {_VIEW})"
        finally:
            run_command(session, f"DROP VIEW IF EXISTS {_VIEW}")


def _make_view(session: SparkSession, table: Relation, since: int | None, newest: int) -> None:
    """Iceberg's rows of `DELETE` and `INSERT` after one snapshot up to another, in a temporary view."""
    span = {"end-snapshot-id": newest} | ({} if since is None else {"start-snapshot-id": since})
    options = ", ".join(f"'{name}', '{snapshot}'" for name, snapshot in span.items())
    view = string_literal(_VIEW)
    call_procedure(session, table, "create_changelog_view", changelog_view=view, options=f"map({options})")


def _change_type(key: Sequence[str]) -> str:
    if not key:
        return f"lower({CHANGE_TYPE})"
    of_key = f"OVER (PARTITION BY {', '.join(map(quote, key))})"
    return (
        f"CASE WHEN count(*) {of_key} = 2 AND min({CHANGE_TYPE}) {of_key} = 'DELETE'"
        f" AND max({CHANGE_TYPE}) {of_key} = 'INSERT'"
        f" THEN if({CHANGE_TYPE} = 'DELETE', 'update_preimage', 'update_postimage') ELSE lower({CHANGE_TYPE}) END"
    )
