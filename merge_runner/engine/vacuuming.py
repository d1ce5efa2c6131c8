"""Removes what no version of a table within its retention needs; only where that was asked for."""

from __future__ import annotations

from merge_runner.engine.delta_log import real_layout
from merge_runner.engine.delta_vacuum import delta_vacuum
from merge_runner.engine.failures import EngineError
from merge_runner.engine.iceberg_expire import iceberg_expire
from merge_runner.engine.iceberg_layout import iceberg_layout
from merge_runner.engine.stamp import of_maintenance, stamp_confs
from merge_runner.engine.temporary_confs import temporary_confs
from merge_runner.engine.workplace import Workplace
from merge_runner.formats.retention import kept_for
from merge_runner.plan.maintenance import shorter
from merge_runner.plan.steps import VacuumTable


def vacuum_table(step: VacuumTable, place: Workplace) -> None:
    """Vacuums the table of the step, if there is one; what it deleted is in the response of `place`.

    Raises EngineError `retention` where the table itself keeps files for longer than was asked for.
    """
    if not place.catalog.adopt(place.session, step.layout):
        return
    layout = step.layout
    read = iceberg_layout if layout.format == "iceberg" else real_layout
    properties = read(place.session, layout.relation).properties
    fault = shorter(step.retain, layout.format, properties, layout.relation.name) if step.retain is not None else None
    if fault is not None:
        raise EngineError(fault.code, fault.message, fault.hint)
    retain = kept_for(layout.format, properties) if step.retain is None else step.retain
    run = iceberg_expire if layout.format == "iceberg" else delta_vacuum
    stamp = of_maintenance(place.stamp, "vacuum")
    with temporary_confs(place.session, stamp_confs(stamp)):
        run(place, layout.relation, retain, stamp)
