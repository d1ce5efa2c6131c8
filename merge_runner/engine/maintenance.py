"""Compaction and vacuum of a table; the figures have the same names for every format."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.engine.context import NodeContext
from merge_runner.engine.response import Compaction, Vacuum
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.commit_metadata import of_maintenance
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.plan.nodes.maintenance import shorter
from merge_runner.plan.steps.maintenance import OptimizeTable, VacuumTable
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def optimize_table(step: OptimizeTable, context: NodeContext) -> None:
    """Compacts the table of the step; what it did is in the response of `context`. Raises EngineError.

    The node's own OPTIMIZE is its response; one `after` a MERGE is `optimized` in the MERGE's, and only happens when
    there have been enough of them.
    """
    session, layout = context.session, step.layout
    table_format, stamp = context.table_format(layout.format), of_maintenance(context.stamp, "optimize")
    if step.after is not None:
        if has_merges_since_compaction(session, layout.relation, table_format, step.after):
            context.output.response.optimized = table_format.optimize(session, step, stamp)
    elif context.catalog.adopt(session, layout):
        context.output.response.statement = table_format.optimize(session, step, stamp)
    else:
        context.output.no_op = f"there is no table {layout.relation.name} yet"


def changed_files(compaction: Compaction, vacuum: Vacuum | None = None) -> bool:
    """Whether any file was written or removed."""
    deleted = vacuum.files_deleted if vacuum is not None else None
    return any((compaction.files_added, compaction.files_removed, deleted, compaction.delete_files_removed))


def in_words(compaction: Compaction, vacuum: Vacuum | None = None) -> str:
    """Return the effect on the files as text: `12 files into 3, 5 delete files removed; 7 files deleted`."""
    parts = []
    removed, added = compaction.files_removed, compaction.files_added
    if removed or added:
        parts.append(f"{removed:,} file{'s' if removed != 1 else ''} into {added:,}")
    if marks := compaction.delete_files_removed:
        parts.append(f"{marks:,} delete file{'s' if marks != 1 else ''} removed")
    text = ", ".join(parts) or "nothing to compact"
    if vacuum is not None and (deleted := vacuum.files_deleted) is not None:
        text += f"; {deleted:,} old file{'s' if deleted != 1 else ''} deleted"
    return text


_OTHERS = 10
"""The most commits of other kinds that are read for each MERGE that is counted."""


def has_merges_since_compaction(session: SparkSession, table: Relation, table_format: TableFormat, enough: int) -> bool:
    """Whether a table has committed `enough` MERGEs or more since it was compacted, or created. Raises EngineError.

    A MERGE that changes nothing commits nothing, and a compaction that finds nothing to do neither. Looks back no
    further than to ten times as many commits.
    """
    merges = 0
    for merged in table_format.merges_since_compaction(session, table, enough * _OTHERS):
        merges += merged
        if merges >= enough:
            return True
    return False


def vacuum_table(step: VacuumTable, context: NodeContext) -> None:
    """Vacuums the table of the step, if there is one; what it deleted is in the response of `context`.

    Raises EngineError `retention` where the table itself keeps files for longer than was asked for.
    """
    if not context.catalog.adopt(context.session, step.layout):
        return
    layout = step.layout
    table_format = context.table_format(layout.format)
    properties = table_format.layout(context.session, layout.relation).properties
    fault = shorter(step.retain, layout.format, properties, layout.relation.name) if step.retain is not None else None
    if fault is not None:
        raise EngineError(fault.code, fault.message, fault.hint)
    retain = table_format.capabilities.retention.seconds(properties) if step.retain is None else step.retain
    stamp = of_maintenance(context.stamp, "vacuum")
    result = table_format.vacuum(context.session, layout.relation, retain, stamp)
    context.output.response.vacuum = Vacuum(result.files_deleted)
    if result.retention_warning is not None:
        context.output.warnings.append(result.retention_warning)
    compaction = context.output.response.statement
    if isinstance(compaction, Compaction):
        context.output.response.statement = replace(compaction, metrics={**compaction.metrics, **result.metrics})
