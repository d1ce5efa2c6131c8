"""The batches that an Iceberg table has committed, as its snapshots say.

Iceberg keeps no record of transactions: the number of a batch is in the summary of the snapshot that its MERGE writes,
and is searched for before the MERGE runs. It expires with the snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.snapshot_properties import PREFIX
from merge_runner.engine.spark.sql import run_command, run_statement, temporary_confs
from merge_runner.engine.table_format.iceberg.log import ancestry, branches, keeps_snapshots
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_APP_KEY = "merge-runner.app"
_BATCH_KEY = "merge-runner.batch"
"""Keys of a snapshot's summary."""


@dataclass(frozen=True)
class Record:
    """The highest batch of an application; `written` is the time of the snapshot that says so, in ms."""

    app: str
    batch: int
    written: int


def batch_confs(app: str, batch: int) -> Mapping[str, str]:
    """Return the confs of a session whose commits are of a batch."""
    return {
        f"{PREFIX}{_APP_KEY}": app,
        f"{PREFIX}{_BATCH_KEY}": str(batch),
    }


def recorded_batches(session: SparkSession, table: Relation, prefix: str, version: int | None = None) -> dict[str, int]:
    """The highest batch of each application whose name begins with `prefix`.

    Raises EngineError, `batch-history` where the next commit of another writer would hide what is recorded.
    """
    if not keeps_snapshots(session, table):
        raise EngineError(
            "batch-history",
            f"the catalog of {table.name} keeps the newest snapshot alone: which batches it has committed is not known",
            hint="merge it without --batch-id, changes() and streams, or keep the table in another catalog",
        )
    return {record.app: record.batch for record in batch_records(session, table, prefix)}


def batch_records(session: SparkSession, table: Relation, prefix: str = "") -> tuple[Record, ...]:
    """What the snapshots of a table record: of each application its highest batch. Raises EngineError.

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
    refs = branches(session, table)
    own = set(ancestry(session, table, refs.heads.get(refs.read_by(session))))
    records: dict[str, Record] = {}
    for row in sorted((row for row in rows if row["snapshot_id"] in own), key=lambda row: (row["batch"], row["at"])):
        records[row["app"]] = Record(row["app"], int(row["batch"]), int(row["at"]))
    return tuple(records.values())


def write_again(session: SparkSession, table: Relation, record: Record) -> None:
    """Records a batch once more, in a new snapshot without any file. Raises EngineError."""
    with temporary_confs(session, batch_confs(record.app, record.batch)):
        run_command(session, f"INSERT INTO {table} SELECT * FROM {table} WHERE false")
