"""Removes what no version of a table within its retention needs; only where that was asked for."""

from __future__ import annotations

from dataclasses import replace

from merge_runner.engine.context import NodeContext
from merge_runner.engine.response import Compaction, Vacuum
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.commit_metadata import of_maintenance
from merge_runner.plan.nodes.maintenance import shorter
from merge_runner.plan.steps.maintenance import VacuumTable


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
    retain = table_format.capabilities.retention.kept(properties) if step.retain is None else step.retain
    stamp = of_maintenance(context.stamp, "vacuum")
    done = table_format.vacuum(context.session, layout.relation, retain, stamp)
    context.output.response.vacuum = Vacuum(done.files_deleted)
    if done.kept is not None:
        context.output.warnings.append(done.kept)
    compaction = context.output.response.statement
    if isinstance(compaction, Compaction):
        context.output.response.statement = replace(compaction, metrics={**compaction.metrics, **done.metrics})
