"""Iceberg as a table format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.table_format.iceberg import log
from merge_runner.engine.table_format.iceberg.change_feed import changes
from merge_runner.engine.table_format.iceberg.layout import table_layout
from merge_runner.formats import Format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.relation import Relation


class IcebergFormat:
    """Iceberg (1.12.0). The stamp of a commit is in the summary of its snapshot."""

    name: Format = "iceberg"
    commit_metadata_conf = log.COMMIT_METADATA_CONF
    layout = staticmethod(table_layout)
    state = staticmethod(log.table_state)
    commits = staticmethod(log.latest_snapshots)
    commit_with = staticmethod(log.statement_snapshot)
    changes = staticmethod(changes)

    def snapshot(self, session: SparkSession, table: Relation, version: int | None = None) -> None:
        """Return None: the files of a snapshot are not asked for conditions, nor are ids of tables kept."""
