"""A MERGE that is stamped with the name of an application and a number commits once for it, however often it runs.

With --batch-id the application is the model and the number the batch; of a change feed (feeds.py) it is the version up
to which it was consumed. Delta keeps the highest number of each application in the table's log and skips the statement
itself. Iceberg keeps nothing of the kind: the number is in the summary of the snapshot that the MERGE writes, and is
searched for before the MERGE runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.context import Batch, NodeContext
from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.jvm_util import active_session
from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.engine.spark.sql import run_command, run_statement
from merge_runner.engine.table_format.delta.log import snapshot
from merge_runner.engine.table_format.iceberg.log import ancestry, branches
from merge_runner.formats.branches import CONF
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.table_format.protocol import Commit
    from merge_runner.formats import Format

_APP_KEY = "merge-runner.app"
_BATCH_KEY = "merge-runner.batch"
"""Keys of an Iceberg snapshot's summary. They expire with the snapshot (engine/maintenance/vacuum.py)."""


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
    return recorded_batches(session, table, format, app).get(app)


def recorded_batches(
    session: SparkSession, table: Relation, format: str | None, prefix: str, version: int | None = None
) -> dict[str, int]:
    """The highest batch id of each application whose name begins with `prefix`; see recorded_batch.

    `version` asks a Delta table as of a version.
    """
    if format != "iceberg":
        return _delta_transactions(session, table, prefix, version)
    return {record.batch.app: record.batch.id for record in batch_records(session, table, prefix)}


def batch_records(session: SparkSession, table: Relation, prefix: str = "") -> tuple[Record, ...]:
    """What the snapshots of an Iceberg table record: of each application its highest batch. Raises EngineError.

    These are the applications whose names begin with `prefix`.
    """
    app, batch = (f"summary[{string_literal(key)}]" for key in (_APP_KEY, _BATCH_KEY))
    rows = run_statement(
        session,
        f"SELECT snapshot_id, {app} AS app, CAST({batch} AS BIGINT) AS batch, unix_millis(committed_at) AS at "
        f"FROM {table}.snapshots WHERE startswith({app}, {string_literal(prefix)})",
    )
    if not rows:
        return ()
    # A table that was rolled back or replaced has lost what the snapshots of its other past had written, and what
    # another branch has committed is not in this one.
    told = branches(session, table)
    own = set(ancestry(session, table, told.heads.get(told.read_by(session))))
    found: dict[str, Record] = {}
    for row in sorted((row for row in rows if row["snapshot_id"] in own), key=lambda row: (row["batch"], row["at"])):
        found[row["app"]] = Record(Batch(row["app"], int(row["batch"])), int(row["at"]))
    return tuple(found.values())


def write_again(session: SparkSession, table: Relation, batch: Batch) -> None:
    """Records a batch of an Iceberg table once more, in a new snapshot without any file. Raises EngineError."""
    with temporary_confs(session, _summary(batch)):
        run_command(session, f"INSERT INTO {table} SELECT * FROM {table} WHERE false")


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

    Only the MERGE may run inside: Delta would silently skip any other statement on the table as well.
    """
    with temporary_confs(session, _confs(batch) if batch is not None else {}):
        yield


def committed_earlier(context: NodeContext, table: Relation, format: Format | None) -> Commit | None:
    """Return the commit of the node's MERGE by an earlier invocation that this one goes on with. Raises EngineError."""
    commit_with = context.table_format(format).commit_with
    commits = (commit_with(context.session, table, stamp) for stamp in context.earlier)
    return next((commit for commit in commits if commit is not None), None)


def _delta_transactions(session: SparkSession, table: Relation, prefix: str, version: int | None) -> dict[str, int]:
    """The versions that Delta's log has of the transactions of applications."""
    current = snapshot(session, table, version)
    if current is None:
        return {}
    with engine_errors(), active_session(session):  # a table with a checkpoint is read by it
        # One answer of the JVM, however many there are.
        told = str(current.state.transactions().mkString("\n"))
    pairs = (line.rpartition(" -> ") for line in told.splitlines())
    return {app: int(version) for app, _, version in pairs if app.startswith(prefix)}


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
