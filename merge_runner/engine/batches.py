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
from merge_runner.engine.iceberg_log import ancestry, branches
from merge_runner.engine.statements import run_statement
from merge_runner.engine.temporary_confs import temporary_confs
from merge_runner.engine.workplace import Workplace
from merge_runner.formats.branches import CONF
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_APP_KEY = "merge-runner.app"
_BATCH_KEY = "merge-runner.batch"
"""Keys of an Iceberg snapshot's summary. They go with the snapshot when it expires."""


@dataclass(frozen=True)
class Batch:
    """A batch of a model: `app` is the project's and the model's name, `id` a whole number from 0 that grows."""

    app: str
    id: int


def recorded_batch(session: SparkSession, table: Relation, format: str | None, app: str) -> int | None:
    """The highest batch id that a table has committed of an application, None where there is none.

    Over Spark Connect the log of a Delta table cannot be asked, and None is said: the table skips by itself all the
    same. Raises EngineError.
    """
    if format != "iceberg":
        return _delta_transaction(session, table, app)
    batch = f"CAST(summary[{string_literal(_BATCH_KEY)}] AS BIGINT)"
    rows = run_statement(
        session,
        f"SELECT snapshot_id, {batch} AS batch FROM {table}.snapshots "
        f"WHERE summary[{string_literal(_APP_KEY)}] = {string_literal(app)}",
    )
    if not rows:
        return None
    # A table that was rolled back or replaced has lost what the snapshots of its other past had written, and what
    # another branch has committed is not in this one.
    told = branches(session, table)
    own = set(ancestry(session, table, told.heads.get(told.read_by(session))))
    return max((int(row["batch"]) for row in rows if row["snapshot_id"] in own), default=None)


def outlives_replacement(session: SparkSession, table: Relation, format: str | None, batch: Batch) -> bool:
    """Whether a table that is about to be replaced will still say that it has committed the batch.

    A Delta table keeps its record then (Delta 4.4.0), and would skip the batches up to the highest one; so does a
    branch, which is emptied and not replaced. Raises EngineError `batch-recorded` where that is above this one: the new
    table would miss those between.
    """
    kept = format != "iceberg" or session.conf.get(CONF, None) is not None
    recorded = recorded_batch(session, table, format, batch.app) if kept else None
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
        f"spark.sql.iceberg.snapshot-property.{_APP_KEY}": batch.app,
        f"spark.sql.iceberg.snapshot-property.{_BATCH_KEY}": str(batch.id),
    }
