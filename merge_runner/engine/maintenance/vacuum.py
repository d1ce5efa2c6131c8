"""Removes what no version of a table within its retention needs; only where that was asked for."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from datetime import datetime, timezone

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.idempotency import batch_records, write_again
from merge_runner.engine.response import Compaction, Vacuum
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.engine.spark.sql import run_command
from merge_runner.engine.table_format.commit_metadata import of_maintenance
from merge_runner.engine.table_format.delta.log import latest_commits
from merge_runner.engine.table_format.iceberg.procedures import call_procedure
from merge_runner.engine.table_format.registry import stamp_confs
from merge_runner.formats.registry import capabilities
from merge_runner.plan.nodes.maintenance import shorter
from merge_runner.plan.steps.maintenance import VacuumTable
from merge_runner.relation import Relation


def vacuum_table(step: VacuumTable, context: NodeContext) -> None:
    """Vacuums the table of the step, if there is one; what it deleted is in the response of `context`.

    Raises EngineError `retention` where the table itself keeps files for longer than was asked for.
    """
    if not context.catalog.adopt(context.session, step.layout):
        return
    layout = step.layout
    properties = context.table_format(layout.format).layout(context.session, layout.relation).properties
    fault = shorter(step.retain, layout.format, properties, layout.relation.name) if step.retain is not None else None
    if fault is not None:
        raise EngineError(fault.code, fault.message, fault.hint)
    retain = capabilities(layout.format).retention.kept(properties) if step.retain is None else step.retain
    run = iceberg_expire if layout.format == "iceberg" else delta_vacuum
    stamp = of_maintenance(context.stamp, "vacuum")
    with temporary_confs(context.session, stamp_confs(stamp)):
        run(context, layout.relation, retain, stamp)


_CONFS = {
    # The commits VACUUM START and VACUUM END say what was done; on S3 they are left out unless asked for.
    "spark.databricks.delta.vacuum.logging.enabled": "true",
    # Delta 4.4.0 takes no RETAIN into account but 0 hours: what is kept is what the table's property says.
    "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled": "false",
}
_RECENT = 20


def delta_vacuum(context: NodeContext, table: Relation, retain: float, stamp: str) -> None:
    """Deletes the files that no version of the last `retain` seconds needs; rounded up to hours. Raises EngineError."""
    with temporary_confs(context.session, _CONFS):
        run_command(context.session, f"VACUUM {table} RETAIN {math.ceil(retain / 3600)} HOURS")
    latest = latest_commits(context.session, table, _RECENT)
    commit = next((one for one in latest if one.operation == "VACUUM END" and one.stamp == stamp), None)
    deleted = commit.metrics.get("numDeletedFiles") if commit is not None else None
    context.response.vacuum = Vacuum(int(deleted) if deleted is not None else None)


_FILES = ("deleted_data_files_count", "deleted_position_delete_files_count", "deleted_equality_delete_files_count")


def iceberg_expire(context: NodeContext, table: Relation, retain: float, _stamp: str) -> None:
    """Expires the snapshots that are older than `retain` seconds, and deletes the files that only they need.

    The table's own `history.expire.min-snapshots-to-keep`, branches and tags hold. Raises EngineError.
    """
    session = context.session
    before = round(1000 * (time.time() - retain))
    for record in batch_records(session, table):
        if record.written < before:
            write_again(session, table, record.batch)
    held = min((record.written for record in batch_records(session, table)), default=before)
    if held < before:
        context.warnings.append(
            f"{table.name}: snapshots since {_utc(held)} are kept: they alone say which batches are committed"
        )
    told = call_procedure(
        session, table, "expire_snapshots", older_than=f"TIMESTAMP '{_utc(min(before, held))}'"
    ).asDict()
    context.response.vacuum = Vacuum(sum(int(told[name] or 0) for name in _FILES))
    done = context.response.statement
    if isinstance(done, Compaction):
        metrics = {f"expire_snapshots.{name}": value for name, value in told.items()}
        context.response.statement = replace(done, metrics={**done.metrics, **metrics})


def _utc(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(sep=" ", timespec="milliseconds")
