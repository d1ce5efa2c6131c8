"""Whether the table of a merge model has been built before, read from the table's log: the value of `is_incremental()`.

A table that was only created has not been built, by whatever process: a first run that failed after CREATE, or that was
killed, is a first run again and loads everything. What counts is a statement that has written rows since the table was
created or replaced. Hooks do not count, and neither does what another model of this project has written to the table.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.plan.steps.node_plan import FirstRun, NodePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def has_been_built(session: SparkSession, catalog: Catalog, first: FirstRun) -> bool:
    """Return whether the table exists and the model has written it before. Raises EngineError."""
    layout = first.layout
    if not catalog.adopt(session, layout):
        return False
    return catalog.table_format(layout.format).is_built(session, layout.relation, first.others)


def built_in_warehouse(plan: NodePlan) -> bool | None:
    """Return the same of a table in a local folder, from its files alone; None where these do not say it."""
    first = plan.first_run
    if first is None or not isinstance(first.layout.location, Path):
        return None
    return table_format(first.layout.format).is_built_in(first.layout.location, first.others)
