"""Batch ids: a MERGE that is stamped with its model's name and a batch id commits once for it, however often it runs.

Delta keeps the highest id of each application in the table's log and skips the statement itself. Iceberg keeps nothing
of the kind: the id stands in the summary of the snapshot that the MERGE writes, and is looked for before it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.delta_log import snapshot
from merge_runner.engine.failures import EngineError, engine_error
from merge_runner.engine.statements import run_statement
from merge_runner.engine.temporary_confs import temporary_confs
from merge_runner.engine.workplace import Workplace
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_APP_KEY = "merge-runner.app"
_BATCH_KEY = "merge-runner.batch"
"""Keys of an Iceberg snapshot's summary. They go with the snapshot when it expires (see engine/iceberg_expire.py)."""


@dataclass(frozen=True)
class Batch:
    """A batch of a model: `app` is the project's and the model's name, `id` a whole number from 0 that grows."""

    app: str
    id: int


@dataclass(frozen=True)
class Record:
    """A batch that an Iceberg table has committed; `written` is the time of the snapshot that says so, in ms."""

    batch: Batch
    written: int


def recorded_batch(session: SparkSession, table: Relation, format: str | None, app: str) -> int | None:
    """The highest batch id that a table has committed of an application, None where there is none.

    Over Spark Connect the log of a Delta table cannot be asked, and None is said: the table skips by itself all the
    same. Raises EngineError.
    """
    if format != "iceberg":
        return _delta_transaction(session, table, app)
    return next((record.batch.id for record in recorded_batches(session, table) if record.batch.app == app), None)


def recorded_batches(session: SparkSession, table: Relation) -> tuple[Record, ...]:
    """What the snapshots of an Iceberg table record: of each application its highest batch. Raises EngineError."""
    # A table that was rolled back or replaced has lost what the snapshots of its other past had written.
    app, batch = (f"s.summary[{string_literal(key)}]" for key in (_APP_KEY, _BATCH_KEY))
    rows = run_statement(
        session,
        f"SELECT {app} AS app, max(struct(CAST({batch} AS BIGINT) AS id, unix_millis(s.committed_at) AS at)) AS last "
        f"FROM {table}.snapshots s JOIN {table}.history h ON s.snapshot_id = h.snapshot_id "
        f"WHERE h.is_current_ancestor AND {app} IS NOT NULL GROUP BY {app}",
    )
    return tuple(Record(Batch(row["app"], int(row["last"]["id"])), int(row["last"]["at"])) for row in rows)


def write_again(session: SparkSession, table: Relation, batch: Batch) -> None:
    """Records a batch of an Iceberg table once more, in a new snapshot without any file. Raises EngineError."""
    with temporary_confs(session, _summary(batch)):
        run_statement(session, f"INSERT INTO {table} SELECT * FROM {table} WHERE false")


def outlives_replacement(session: SparkSession, table: Relation, format: str | None, batch: Batch) -> bool:
    """Whether a table that is about to be replaced will still say that it has committed the batch.

    A Delta table keeps its record then (Delta 4.4.0), and would skip the batches up to the highest one. Raises
    EngineError `batch-recorded` where that is above this one: the new table would miss those between.
    """
    recorded = recorded_batch(session, table, format, batch.app) if format != "iceberg" else None
    if recorded is not None and recorded > batch.id:
        raise EngineError(
            "batch-recorded",
            f"{table.name} has committed batch {recorded}, which a full refresh with batch {batch.id} does not undo",
            hint=f"give --batch-id {recorded} or a higher one, or drop the table first",
        )
    return recorded == batch.id


@contextmanager
def recording(session: SparkSession, batch: Batch | None) -> Iterator[None]:
    """What the session commits inside the block is stamped with the batch; afterwards its confs are as before.

    Only the MERGE may stand inside: Delta would skip any other statement on the table as well, without a word.
    """
    with temporary_confs(session, _confs(batch) if batch is not None else {}):
        yield


def skipped(place: Workplace, batch: Batch) -> None:
    """Notes that the table has the batch already."""
    place.no_op = f"batch {batch.id} or a later one is committed already"
    place.response |= {"operation": "MERGE", "rows_affected": 0}


def _delta_transaction(session: SparkSession, table: Relation, app: str) -> int | None:
    """The version that Delta's log has of an application's transactions."""
    current = snapshot(session, table)
    if current is None:
        return None
    try:
        version = current.state.transactions().get(app)
        return int(version.get()) if version.isDefined() else None
    except Exception as error:
        raise engine_error(error) from error


def _confs(batch: Batch) -> Mapping[str, str]:
    return {
        "spark.databricks.delta.write.txnAppId": batch.app,
        "spark.databricks.delta.write.txnVersion": str(batch.id),
        **_summary(batch),
    }


def _summary(batch: Batch) -> Mapping[str, str]:
    return {
        f"spark.sql.iceberg.snapshot-property.{_APP_KEY}": batch.app,
        f"spark.sql.iceberg.snapshot-property.{_BATCH_KEY}": str(batch.id),
    }
