"""Branches of Iceberg tables: begun by a build, and published or dropped afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.spark.sql import run_command, run_statement
from merge_runner.engine.table_format.branches import Branch, ChangedRows, State
from merge_runner.engine.table_format.iceberg.log import ancestry, branches
from merge_runner.engine.table_format.iceberg.merge_metrics import changed_rows
from merge_runner.engine.table_format.iceberg.procedures import call_procedure
from merge_runner.formats.branches import MAIN, PROPERTY
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class IcebergBranches:
    """Branches of Iceberg tables (1.12.0): named references to snapshots."""

    def heads(self, session: SparkSession, table: Relation) -> Mapping[str, int]:
        """Return the id of the newest snapshot of each branch."""
        return branches(session, table).heads

    def begin(self, session: SparkSession, table: Relation, branch: str) -> None:
        """Set the property that counts for sessions with a branch alone, and create the branch."""
        refs = branches(session, table)
        if not refs.isolated:
            run_command(session, f"ALTER TABLE {table} SET TBLPROPERTIES ({string_literal(PROPERTY)} = 'true')")
        if branch not in refs.heads:
            run_command(session, f"ALTER TABLE {table} CREATE BRANCH IF NOT EXISTS {quote(branch)}")

    def create(self, session: SparkSession, table: Relation, branch: str) -> None:
        """Create a branch where main is now."""
        run_command(session, f"ALTER TABLE {table} CREATE BRANCH {quote(branch)}")

    def reference(self, table: Relation, branch: str) -> str:
        """Return the table's name with the branch as another part of it."""
        return f"{table}.{quote(f'branch_{branch}')}"

    def find(self, session: SparkSession, table: Relation, branch: str) -> Branch | None:
        """Return a branch as it is now."""
        heads = branches(session, table).heads
        if branch not in heads:
            return None
        head, main = heads[branch], heads.get(MAIN)
        state: State = "moved"
        if main is None or (head != main and main in ancestry(session, table, head)):
            state = "ahead"
        elif head in ancestry(session, table, main):
            state = "published"
        return Branch(table, branch, head, main, state)

    def changed_rows(self, session: SparkSession, table: Relation, snapshot: int) -> ChangedRows:
        """Return the counts in the summary of a snapshot."""
        query = f"SELECT operation, summary FROM {table}.snapshots WHERE snapshot_id = {snapshot}"
        row = run_statement(session, query)[0]
        summary = {name: int(value) for name, value in row["summary"].items() if value.isdigit()}
        counts = changed_rows(summary, row["operation"])
        return ChangedRows(counts["rows_inserted"], counts["rows_updated"], counts["rows_deleted"])

    def fast_forward(self, session: SparkSession, branch: Branch) -> None:
        """Move main to the newest snapshot of a branch."""
        arguments = {"branch": string_literal(MAIN), "to": string_literal(branch.name)}
        call_procedure(session, branch.table, "fast_forward", **arguments)

    def drop(self, session: SparkSession, table: Relation, branch: str) -> None:
        """Drop a branch."""
        run_command(session, f"ALTER TABLE {table} DROP BRANCH IF EXISTS {quote(branch)}")
