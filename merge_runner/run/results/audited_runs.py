"""The runs that the audit table has, for a target folder that keeps none: in a CI job, or after `clean`."""

from __future__ import annotations

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.steps.audit_table import run_records
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.graph.naming import table_location
from merge_runner.pages.runs.history import KEPT, keep, unpacked
from merge_runner.plan.load.project_context import Prepared
from merge_runner.relation import Relation


def restore_runs(driver: Driver, prepared: Prepared, table: Relation) -> int:
    """Keep the last runs of the project that the audit table has, and return how many.

    A table that cannot be read has none.
    """
    location = table_location(prepared.files.root, prepared.files.profile, table, None)
    try:
        with driver.session() as session:
            texts = run_records(session, Catalog(driver.table_format), table, location, prepared.graph.project, KEPT)
        records = [record for record in map(unpacked, texts) if record is not None]
        for record in records:
            keep(prepared.target_path, record)
    except (EngineError, OSError):
        return 0
    return len(records)
