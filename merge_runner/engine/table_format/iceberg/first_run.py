"""Whether a model has written an Iceberg table since it was created or emptied, as its snapshots say (Iceberg 1.12.0).

A MERGE that changes nothing leaves an empty snapshot: the next run is a first run again, since nothing has been loaded
yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.table_format.commit_metadata import FULL_REFRESH, written_by
from merge_runner.engine.table_format.iceberg.log import latest_snapshots
from merge_runner.engine.table_format.protocol import LOOK_BACK, Commit
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_built(session: SparkSession, table: Relation, others: Collection[str]) -> bool:
    """Return whether a node other than `others`, by a separate statement, has written rows. Raises EngineError."""
    return _wrote_rows(latest_snapshots(session, table, LOOK_BACK), others)


def is_built_in(folder: Path, others: Collection[str]) -> None:
    """Return None: only the catalog says which of the files are the table."""


def _wrote_rows(snapshots: Iterable[Commit], others: Collection[str]) -> bool:
    for snapshot in snapshots:
        writer = written_by(snapshot.stamp)
        if writer is not None and writer.of == FULL_REFRESH:
            return False
        if writer is not None and (writer.of is not None or writer.node in others):
            continue
        if _has_rows(snapshot.metrics):
            return True
    return False


def _has_rows(summary: Mapping[str, str]) -> bool:
    """Whether a snapshot of Iceberg leaves rows in the table, or took some away; without a count it does."""
    return any(summary.get(key, "0") != "0" for key in ("deleted-records", "deleted-data-files")) or (
        summary.get("total-records") != "0"
    )
