"""The rows that statements have changed in an Iceberg table, computed from its snapshots.

Iceberg computes them from the files that a snapshot has added and removed: rows that were only copied are left out, and
so is an update that leaves a row as it was. It cannot where delete files mark the old rows (Iceberg 1.12.0: "Delete
files are currently not supported in changelog scans").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from merge_runner.engine.spark.sql import run_command
from merge_runner.engine.table_format.iceberg.log import table_state
from merge_runner.engine.table_format.iceberg.procedures import call_procedure
from merge_runner.engine.table_format.protocol import CHANGE_TYPE, no_changes
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VIEW = "merge_runner_changes"


@contextmanager
def changes(session: SparkSession, table: Relation, since: int | None, key: Sequence[str]) -> Iterator[str]:
    """Return a relation of the changes after the snapshot `since` (None: from the first one). Raises EngineError.

    Iceberg knows rows that are gone and rows that are new; where there is one of each with the same `key` columns, they
    are the two sides of an update.
    """
    newest = table_state(session, table).version
    if newest is None or newest == since:
        yield no_changes(table)
        return
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
